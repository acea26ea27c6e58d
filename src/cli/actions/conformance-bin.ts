import { parseArgs } from "node:util";
import { ServiceError } from "../../errors.ts";
import {
  BASE_URL_DESCRIPTION,
  CONFORMANCE_FLAGS,
  type ConformanceFlag,
  type FlagName,
} from "../conformance-flags.ts";
import { endWithoutOutput } from "../output/standard-output.ts";
import { checkConformance } from "./conformance.ts";

const FLAGS: readonly (readonly [FlagName, ConformanceFlag])[] = Object.entries(CONFORMANCE_FLAGS).map(
  // the keys of the table are the names of the flags
  ([name, flag]) => [name as FlagName, flag],
);

/**
 * `decision conformance` as a separate program that does not include the service.
 *
 * @returns the exit code of the command; 2 for wrong usage
 */
export async function main(args: readonly string[]): Promise<number> {
  endWithoutOutput("decision-conformance");
  try {
    const { values, positionals } = read(args);
    if (values.get("help") === true) {
      process.stdout.write(help());
      return 0;
    }
    const [baseUrl, ...others] = positionals;
    if (baseUrl === undefined || others.length > 0)
      throw new ServiceError("INVALID_OPTION", `Expected one argument: ${BASE_URL_DESCRIPTION}.`);
    checkTogether(values);
    return await checkConformance(baseUrl, {
      profile: text(values, "profile") ?? "",
      only: texts(values, "only"),
      skip: texts(values, "skip"),
      shard: text(values, "shard"),
      seed: text(values, "seed"),
      gentle: values.get("gentle") === true,
      timeout: text(values, "timeout") ?? "",
      baseline: text(values, "baseline"),
      "write-baseline": text(values, "write-baseline"),
      json: values.get("json") === true,
      github: values.get("github") === true,
      junit: text(values, "junit"),
    });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
}

type Values = ReadonlyMap<string, unknown>;

function read(args: readonly string[]) {
  const named = FLAGS.map(([name, { type, isRepeatable }]) => [
    name,
    { type, multiple: isRepeatable === true },
  ]);
  const options = { ...Object.fromEntries(named), help: { type: "boolean" as const } };
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { values: new Map<string, unknown>(Object.entries(values)), positionals };
  } catch (cause) {
    throw new ServiceError("INVALID_OPTION", cause instanceof Error ? cause.message : String(cause), {
      cause,
    });
  }
}

/**
 * The value of a flag, or its default. @throws ServiceError INVALID_OPTION for a value that is not allowed
 */
function text(values: Values, name: FlagName): string | undefined {
  const flag: ConformanceFlag = CONFORMANCE_FLAGS[name];
  const given = values.get(name) ?? flag.default;
  if (typeof given !== "string") return undefined;
  if (flag.options !== undefined && !flag.options.includes(given))
    throw new ServiceError("INVALID_OPTION", `--${name} takes ${flag.options.join(" or ")}, not "${given}".`);
  return given;
}

function texts(values: Values, name: FlagName): readonly string[] {
  const given = values.get(name);
  return Array.isArray(given) ? given.map(String) : [];
}

function checkTogether(values: Values): void {
  for (const [name, { exclusive = [] }] of FLAGS)
    for (const other of exclusive)
      if (values.get(name) !== undefined && values.get(other) !== undefined)
        throw new ServiceError("INVALID_OPTION", `--${name} and --${other} cannot both be given.`);
}

function help(): string {
  const lines = FLAGS.map(([name, { helpValue, options, description, default: usual }]) => {
    const value = helpValue ?? options?.join("|");
    const flag = `--${name}${value === undefined ? "" : ` ${value}`}`;
    return `  ${flag.padEnd(26)} ${description}${usual === undefined ? "" : ` [${usual}]`}`;
  });
  return [
    "Checks any server against the typed decision contract, clause by clause, over HTTP, with the key in DECISION_API_KEY.",
    "",
    "  decision-conformance <base-url> [flags]",
    "",
    `  ${"<base-url>".padEnd(26)} ${BASE_URL_DESCRIPTION}`,
    ...lines,
    "",
    "Exit code: 0 no broken clause, or all accepted; 1 broken clauses, another kind of server, no answers, or a run that ended early;",
    "2 wrong usage, no key, or nothing checked.",
    "",
  ].join("\n");
}
