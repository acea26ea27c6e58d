import { Flags, type Interfaces } from "@oclif/core";
import { invalidOption } from "../errors.ts";
import { OPTION_TABLE, type OptionName, type OptionRow, type ServiceOptions } from "../options/table.ts";

/** Creates oclif flags from the option table. `resolveOptions` parses and checks their values. */
export function optionFlags(names: readonly OptionName[]): Interfaces.FlagInput {
  return Object.fromEntries(
    names.map((name) => {
      const row: OptionRow = OPTION_TABLE[name];
      return [row.flag, flagOf(row)];
    }),
  );
}

/** The flag that names a configuration file. */
export const configFlag = {
  config: Flags.string({
    description:
      "configuration file (YAML) [default: decision.yaml, if it is there, for options that expose nothing; env: DECISION_CONFIG]",
    helpValue: "<file>",
  }),
};

function flagOf(row: OptionRow) {
  const settings = { description: describe(row), helpValue: helpValue(row) };
  switch (row.kind) {
    case "switch":
      return Flags.boolean({ description: settings.description, allowNo: true });
    case "list":
      return Flags.string({ ...settings, multiple: true });
    default:
      return Flags.string(settings);
  }
}

function describe(row: OptionRow): string {
  const initial =
    row.default === "" || row.kind === "switch" || row.kind === "list" ? "" : `default: ${row.default}, `;
  return `${row.description} [${initial}env: ${row.env}]`;
}

function helpValue(row: OptionRow): string {
  if (row.kind === "integer") return row.unit ? `<${row.unit}>` : "<number>";
  if (row.kind === "text" && row.values) return row.values.join("|");
  return row.kind === "text" && row.names ? `<${row.names}>` : "<text>";
}

/** The file of keys. @throws ServiceError INVALID_OPTION if no file is configured */
export function keysFileOf({ keysFile }: ServiceOptions): string {
  if (keysFile !== "") return keysFile;
  throw invalidOption("Name the file of keys by --keys-file or DECISION_KEYS_FILE.");
}

/**
 * The number of a flag that is no option of the service.
 *
 * @param leastWhole of whole numbers; without it, any number above 0
 * @throws ServiceError INVALID_OPTION
 */
export function numberOf(
  flag: string,
  text: string | undefined,
  { leastWhole }: { readonly leastWhole?: number } = {},
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,9}(\.\d{1,20})?$/.test(text) ? Number(text) : Number.NaN;
  if (leastWhole === undefined ? value > 0 : Number.isInteger(value) && value >= leastWhole) return value;
  const wanted = leastWhole === undefined ? "a number above 0" : `a whole number from ${leastWhole}`;
  throw invalidOption(`--${flag}: expected ${wanted}, got ${JSON.stringify(text.slice(0, 60))}.`);
}
