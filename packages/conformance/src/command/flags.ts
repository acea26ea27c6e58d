import { parseArgs } from "node:util";
import { invalidOption } from "../../../../src/errors.ts";
import { PROFILES } from "../trial/clause.ts";

/** A flag of the programs `decision conformance` and `decision-conformance`. */
export interface ConformanceFlag {
  readonly type: "string" | "boolean";
  readonly description: string;
  /** Placeholder of its value in the help. */
  readonly helpValue?: string;
  readonly isRepeatable?: boolean;
  readonly options?: readonly string[];
  readonly default?: string;
  /** Flags that cannot be given together with it. */
  readonly exclusive?: readonly string[];
}

export const CONFORMANCE_FLAGS = {
  profile: {
    type: "string",
    options: PROFILES,
    default: "full",
    description:
      "seed: the clauses that every implementation must keep; full: also those that only this contract requires; typesafe, rerank, mcp: the clauses of that dialect",
  },
  only: {
    type: "string",
    isRepeatable: true,
    helpValue: "<clause>",
    description: "check this clause: an id, a prefix, or a pattern with *; repeatable",
  },
  skip: {
    type: "string",
    isRepeatable: true,
    helpValue: "<clause>",
    description: "leave this clause out; repeatable",
  },
  shard: {
    type: "string",
    helpValue: "<2/4>",
    description: "check only a part of the clauses, for parallel runs: 2/4 is the second of four parts",
  },
  seed: {
    type: "string",
    helpValue: "<number>",
    description: "send the same requests as the run that printed this seed",
  },
  gentle: {
    type: "boolean",
    description: "send no floods and no large bodies, cause little work: for servers in use",
  },
  timeout: {
    type: "string",
    default: "20",
    helpValue: "<seconds>",
    description: "timeout of a request; the run takes at most 15 times as long",
  },
  baseline: {
    type: "string",
    helpValue: "<file>",
    description: "accept the broken clauses in this file; only other broken clauses fail the run",
  },
  "write-baseline": {
    type: "string",
    helpValue: "<file>",
    description: "write the clauses that are broken now as a baseline; keeps the reasons of --baseline",
  },
  json: { type: "boolean", description: "print the report as JSON" },
  github: { type: "boolean", description: "print GitHub annotations after the report", exclusive: ["json"] },
  junit: { type: "string", helpValue: "<file>", description: "also write the report as JUnit XML" },
} as const satisfies Readonly<Record<string, ConformanceFlag>>;

export type FlagName = keyof typeof CONFORMANCE_FLAGS;

export const BASE_URL_DESCRIPTION =
  "address of the server, for example http://127.0.0.1:8700 or http+unix:///run/decision.sock";

const FLAGS: readonly (readonly [string, ConformanceFlag])[] = Object.entries(CONFORMANCE_FLAGS);

/** What was given on the command line, with the defaults. */
export interface Given {
  readonly baseUrl: string;
  text(name: FlagName): string | undefined;
  texts(name: FlagName): readonly string[];
  has(name: FlagName): boolean;
}

/** Reads the command line of both programs. @throws ServiceError INVALID_OPTION */
export function readArguments(args: readonly string[]): Given {
  const { values, positionals } = parsed(args);
  const [baseUrl, ...others] = positionals;
  if (baseUrl === undefined || others.length > 0)
    throw invalidOption(`Expected one argument, the ${BASE_URL_DESCRIPTION}, got ${positionals.length}.`);
  for (const [name, { options = [], exclusive = [] }] of FLAGS) {
    const value = values.get(name);
    if (typeof value === "string" && options.length > 0 && !options.includes(value))
      throw invalidOption(`Expected --${name} to be one of ${options.join(", ")}, got "${value}".`);
    if (value !== undefined && exclusive.some((other) => values.has(other)))
      throw invalidOption(`Expected --${name} without --${exclusive.join(" and --")}, got both.`);
  }
  return {
    baseUrl,
    text: (name) => {
      const value = values.get(name);
      return typeof value === "string" ? value : undefined;
    },
    texts: (name) => [values.get(name) ?? []].flat().map(String),
    has: (name) => values.get(name) === true,
  };
}

function parsed(args: readonly string[]) {
  const options = FLAGS.map(([name, { type, isRepeatable = false, default: usual }]) => {
    return [name, { type, multiple: isRepeatable, ...(usual === undefined ? {} : { default: usual }) }];
  });
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: Object.fromEntries(options),
      allowPositionals: true,
    });
    return { values: new Map<string, unknown>(Object.entries(values)), positionals };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw invalidOption(`${message.split(/\. |\.$/)[0]}.`); // further sentences are about a rare form
  }
}

/** The help of the program without the service. */
export function help(): string {
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
