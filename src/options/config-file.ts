import { readFileSync } from "node:fs";
import { fileFault, invalidOption } from "../errors.ts";
import { OPTION_TABLE, type OptionRow } from "./table.ts";

/** What a file may say of an option. */
export type ConfigValue = string | number | boolean | readonly string[];

/** A configuration file: options by the names of their flags. */
export interface ConfigFile {
  readonly path: string;
  readonly values: Readonly<Record<string, ConfigValue>>;
}

const DEFAULT_FILE = "decision.yaml";

/**
 * The configuration file: the one that is named, else `decision.yaml` in the working folder, if it is there.
 *
 * @param named by --config or DECISION_CONFIG
 * @throws ServiceError INVALID_OPTION for a file that cannot be read or says what no option takes
 */
export async function readConfigFile(named: string | undefined): Promise<ConfigFile | undefined> {
  const path = named || DEFAULT_FILE;
  const text = textOf(path, Boolean(named));
  if (text === undefined) return undefined;
  // read only by those who have such a file
  const { parse } = await import("yaml");
  let content: unknown;
  try {
    content = parse(text, { strict: true, uniqueKeys: true }) ?? {};
  } catch (cause) {
    const [where = ""] = cause instanceof Error ? cause.message.split("\n") : [];
    throw invalidOption(`${path} is not valid YAML: ${where.replace(/:$/, "")}.`);
  }
  return { path, values: checked(content, path) };
}

function textOf(path: string, isNamed: boolean): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    if (!isNamed && code === "ENOENT") return undefined;
    throw invalidOption(`the configuration file ${path} cannot be read: ${fileFault(cause)}.`);
  }
}

const ROWS: ReadonlyMap<string, OptionRow> = new Map(
  Object.values<OptionRow>(OPTION_TABLE).map((row) => [row.flag, row]),
);

/** Names and types; bounds are checked where all options are. */
function checked(content: unknown, path: string): Readonly<Record<string, ConfigValue>> {
  if (typeof content !== "object" || content === null || Array.isArray(content))
    throw invalidOption(`${path} must hold options by their names, such as "port: 8700".`);
  for (const [name, value] of Object.entries(content)) {
    const row = ROWS.get(name);
    if (row === undefined)
      throw invalidOption(`${path} has a member that is no option: ${JSON.stringify(name.slice(0, 60))}.`);
    if (!TYPES[row.kind].fits(value))
      throw invalidOption(`${path}: ${name} takes ${TYPES[row.kind].said}, not ${typeOf(value)}.`);
  }
  return content as Readonly<Record<string, ConfigValue>>; // every member has been looked at
}

const TYPES: Readonly<Record<OptionRow["kind"], { readonly said: string; fits(value: unknown): boolean }>> = {
  integer: { said: "a whole number", fits: Number.isSafeInteger },
  switch: { said: "true or false", fits: (value) => typeof value === "boolean" },
  text: { said: "a text", fits: (value) => typeof value === "string" },
  list: {
    said: "a list of texts",
    fits: (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
  },
};

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

/** The JSON Schema of a configuration file, from the table of options. */
export function configSchema(): Readonly<Record<string, unknown>> {
  const properties = Object.values<OptionRow>(OPTION_TABLE).map((row) => [row.flag, schemaOf(row)]);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Configuration of `decision serve`",
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  };
}

function valuesSchema(values: readonly string[], numbered: readonly string[] = []) {
  if (numbered.length === 0) return { enum: values };
  return { anyOf: [{ enum: values }, { pattern: `^(${numbered.join("|")}):\\d{1,3}$` }] };
}

function schemaOf(row: OptionRow): Readonly<Record<string, unknown>> {
  const { description } = row;
  switch (row.kind) {
    case "integer":
      return { description, type: "integer", minimum: row.min, maximum: row.max, default: row.default };
    case "switch":
      return { description, type: "boolean", default: row.default };
    case "list":
      return { description, type: "array", items: { type: "string", pattern: "\\S" }, default: row.default };
    case "text":
      return {
        description,
        type: "string",
        minLength: 1,
        ...(row.values && valuesSchema(row.values, row.numbered)),
        ...(row.default !== "" && { default: row.default }),
      };
  }
}
