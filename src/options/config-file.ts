import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileFault, invalidOption } from "../errors.ts";
import { utf8Text } from "../utf8.ts";
import { OPTION_TABLE, type OptionName, type OptionRow } from "./table.ts";

/** What a file may say of an option. */
export type ConfigValue = string | number | boolean | readonly string[];

/** A configuration file: options by the names of their flags. */
export interface ConfigFile {
  readonly path: string;
  readonly values: Readonly<Record<string, ConfigValue>>;
}

/** Read by commands with the flag --config if no file is named. */
const DEFAULT_FILE = "decision.yaml";

/**
 * The configuration file that the operator has named.
 *
 * @throws ServiceError INVALID_OPTION for a file that cannot be read or says what no option takes
 */
export async function readConfigFile(file: string): Promise<ConfigFile> {
  return parsed(file, bytesOf(file));
}

/**
 * `decision.yaml` in the working folder, if it is there. The folder may be somebody else's, such as a checkout, so the
 * file may not set options that open the service to others, or that redirect texts, secrets or trust.
 *
 * @throws ServiceError INVALID_OPTION, also for such an option
 */
export async function readUnnamedFile(folder: string): Promise<ConfigFile | undefined> {
  const file = path.join(folder, DEFAULT_FILE);
  if (!existsSync(file)) return undefined;
  const found = await parsed(file, bytesOf(file));
  const guarded = Object.keys(found.values).filter(isGuarded);
  if (guarded.length === 0) return found;
  throw invalidOption(
    `${file} sets ${guarded.join(", ")}, which a file may set only if it is named: use --config ${DEFAULT_FILE} if you trust it.`,
  );
}

/**
 * Options that a file may set only if it is named, besides those that name a file or folder. A test lists all options.
 */
const GUARDED: ReadonlySet<OptionName> = new Set([
  "host",
  "metricsPort",
  "allowUnauthenticated",
  "corsOrigin",
  "allowedHost",
  "remoteUrl",
  "tuning", // files of corrections, which change answers
]);

function isGuarded(flag: string): boolean {
  const names = (Object.keys(OPTION_TABLE) as OptionName[]).filter(
    (name) => OPTION_TABLE[name].flag === flag,
  );
  return names.some((name) => GUARDED.has(name) || "names" in OPTION_TABLE[name]);
}

function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw invalidOption(`the configuration file ${file} cannot be read: ${fileFault(cause)}.`);
  }
}

async function parsed(file: string, bytes: Uint8Array): Promise<ConfigFile> {
  const text = utf8Text(bytes, (fault) => invalidOption(`the configuration file ${file} ${fault}.`));
  // loaded here, because few have such a file
  const { parse } = await import("yaml");
  let content: unknown;
  try {
    content = parse(text, { strict: true, uniqueKeys: true }) ?? {};
  } catch (cause) {
    const [where = ""] = cause instanceof Error ? cause.message.split("\n") : [];
    throw invalidOption(`${file} is not valid YAML: ${where.replace(/:$/, "")}.`);
  }
  return { path: file, values: checked(content, file) };
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
      throw invalidOption(`${path}: ${name}: expected ${TYPES[row.kind].said}, got ${typeOf(value)}.`);
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
  if (!Array.isArray(value)) return `a ${typeof value}`;
  const other: unknown = value.find((item) => typeof item !== "string");
  return other === undefined ? "a list" : `a list with ${typeOf(other)}`;
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
