import { invalidOption, quoted } from "../errors.ts";
import { checkBackend } from "./backends.ts";
import type { ConfigFile } from "./config-file.ts";
import {
  type IntegerRow,
  OPTION_TABLE,
  type OptionName,
  type OptionRow,
  type ServiceOptions,
  type TextRow,
} from "./table.ts";

/** Raw values: texts from a flag or a variable, booleans from switches, lists from repeated flags. */
export type RawFlags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the value of an option comes from. */
export interface Source {
  readonly kind: "flag" | "variable" | "file" | "default";
  /** The flag, the variable, or the file with its member; empty for a default. */
  readonly name: string;
}

/** Every option, with where it comes from. */
export interface ResolvedOptions {
  readonly options: ServiceOptions;
  readonly sources: Readonly<Record<OptionName, Source>>;
}

/**
 * Completes options that a program gives, by the names of `ServiceOptions`. Reads no environment.
 *
 * @throws ServiceError INVALID_OPTION naming the option, its bounds and the given value
 */
export function completeOptions(given: Readonly<Record<string, unknown>>): ServiceOptions {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(OPTION_TABLE, name));
  if (unknown !== undefined) throw invalidOption(`there is no option ${quoted(unknown)}.`);
  const entries = Object.entries(OPTION_TABLE).map(([name, row]: [string, OptionRow]) => {
    const value = given[name];
    if (value === undefined || value === row.default) return [name, row.default];
    return [name, read(row, name, rawValue(row, name, value))];
  });
  const options = Object.fromEntries(entries) as ServiceOptions; // as above
  checkBackend(options, (option) => option);
  if (options.model === "" || options.modelPath === "") return options;
  throw invalidOption("model and modelPath exclude each other: set one of them.");
}

/** A value of the option's type as `read` takes it. */
function rawValue(row: OptionRow, name: string, value: unknown): string | boolean | readonly string[] {
  const expected = JS_TYPES[row.kind];
  if (row.kind === "list" && Array.isArray(value)) return value;
  if (row.kind === "integer" && typeof value === "number") return String(value);
  if (typeof value === expected && (typeof value === "string" || typeof value === "boolean")) return value;
  throw invalidOption(`${name}: expected a ${expected}, got a ${value === null ? "null" : typeof value}.`);
}

const JS_TYPES = { integer: "number", text: "string", switch: "boolean", list: "list of texts" } as const;

/**
 * Resolves options: flags override the environment, which overrides the file, which overrides defaults.
 *
 * @throws ServiceError INVALID_OPTION naming the flag, variable or file, its bounds and the given value
 */
export function resolveOptions(flags: RawFlags, env: Environment = {}, file?: ConfigFile): ServiceOptions {
  return resolveWithSources(flags, env, file).options;
}

/** The same, with where each comes from. @throws ServiceError INVALID_OPTION */
export function resolveWithSources(
  flags: RawFlags,
  env: Environment = {},
  file?: ConfigFile,
): ResolvedOptions {
  const resolved = Object.entries(OPTION_TABLE).map(([name, row]: [string, OptionRow]) => {
    const { source, value } = find(row, flags, env, file);
    return { name, source, value };
  });
  // every row was visited, and `read` returns the type of its kind
  const options = Object.fromEntries(
    resolved.map(({ name, value }) => [name, value]),
  ) as unknown as ServiceOptions;
  const sources = Object.fromEntries(
    resolved.map(({ name, source }) => [name, source]),
  ) as ResolvedOptions["sources"];
  checkBackend(options, (option) => sources[option].name || `--${option}`);
  return { options: oneModel(options, sources), sources };
}

function find(row: OptionRow, flags: RawFlags, env: Environment, file: ConfigFile | undefined) {
  const flag = flags[row.flag];
  const variable = env[row.env];
  const inFile = file?.values[row.flag];
  if (flag !== undefined) return from("flag", `--${row.flag}`, read(row, `--${row.flag}`, flag));
  // an empty variable counts as unset, as container files write it
  if (variable !== undefined && variable !== "" && !isServiceLink(variable))
    return from("variable", row.env, read(row, row.env, variable));
  if (file !== undefined && inFile !== undefined) {
    const raw = typeof inFile === "number" ? String(inFile) : inFile;
    return from("file", `${file.path}: ${row.flag}`, read(row, `${file.path}: ${row.flag}`, raw));
  }
  return from("default", "", row.default);
}

/**
 * Whether Kubernetes has set a variable for a service in the namespace: the service `decision` sets DECISION_PORT.
 *
 * @see https://kubernetes.io/docs/tutorials/services/connect-applications-service/
 */
export function isServiceLink(value: string): boolean {
  return /^(tcp|udp|sctp):\/\/\S+:\d+$/.test(value);
}

function from(kind: Source["kind"], name: string, value: unknown) {
  return { source: { kind, name }, value };
}

/** What comes first overrules. */
const RANKS = ["flag", "variable", "file", "default"] as const;

/**
 * A model is given by name or by folder: the one from the source that comes first counts.
 *
 * @throws ServiceError INVALID_OPTION when both are given in the same way
 */
function oneModel(options: ServiceOptions, sources: ResolvedOptions["sources"]): ServiceOptions {
  if (options.model === "" || options.modelPath === "") return options;
  const byName = RANKS.indexOf(sources.model.kind);
  const byFolder = RANKS.indexOf(sources.modelPath.kind);
  if (byName < byFolder) return { ...options, modelPath: "" };
  if (byFolder < byName) return { ...options, model: "" };
  throw invalidOption(
    `${sources.model.name} and ${sources.modelPath.name} exclude each other: set one of them.`,
  );
}

function read(row: OptionRow, source: string, raw: string | boolean | readonly string[]): unknown {
  switch (row.kind) {
    case "integer":
      return readInteger(row, source, String(raw));
    case "switch":
      return typeof raw === "boolean" ? raw : readSwitch(source, String(raw));
    case "list":
      return readList(source, typeof raw === "string" ? raw.split(",").map((item) => item.trim()) : raw);
    case "text":
      return readText(row, source, String(raw));
  }
}

function readInteger(row: IntegerRow, source: string, text: string): number {
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= row.min && value <= row.max) return value;
  const unit = row.unit ? ` ${row.unit}` : "";
  throw invalidOption(
    `${source}: expected a whole number from ${row.min} to ${row.max}${unit}, got ${quoted(text)}.`,
  );
}

/** A Map, because an object would also accept `constructor`. */
const SWITCH_VALUES: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

function readSwitch(source: string, text: string): boolean {
  const value = SWITCH_VALUES.get(text.toLowerCase());
  if (value !== undefined) return value;
  throw invalidOption(`${source}: expected true or false, got ${quoted(text)}.`);
}

function readList(source: string, raw: unknown): readonly string[] {
  const items: unknown[] = Array.isArray(raw) ? raw : [];
  return items.map((item) => {
    if (typeof item === "string" && item.trim() !== "") return item;
    throw invalidOption(`${source}: expected a name of at least one character, got ${quoted(String(item))}.`);
  });
}

function readText(row: TextRow, source: string, text: string): string {
  if (row.values && !row.values.includes(text) && !isNumbered(row, text)) {
    throw invalidOption(`${source}: expected ${oneOf(valuesOf(row))}, got ${quoted(text)}.`);
  }
  if (text === "")
    throw invalidOption(`${source}: expected a text of at least one character, got an empty one.`);
  return text;
}

/** As an operator writes them. */
const valuesOf = ({ values = [], numbered = [] }: TextRow) => [
  ...values,
  ...numbered.map((name) => `${name}:N`),
];

function isNumbered({ numbered = [] }: TextRow, text: string): boolean {
  const [, name = ""] = /^(.+):\d{1,3}$/.exec(text) ?? [];
  return numbered.includes(name);
}

const oneOf = (values: readonly string[]) => values.join(", ").replace(/, ([^,]*)$/, " or $1");
