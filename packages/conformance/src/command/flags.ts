import { parseArgs } from "node:util";
import { invalidOption } from "../../../../src/errors.ts";
import { PROFILES } from "../trial/clause.ts";

/** A flag of the programs `decision conformance` and `decision-conformance`, as `parseArgs` of Node has it. */
export interface ConformanceFlag {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  readonly default?: string;
  readonly description: string;
  /** Placeholder of its value in the help. */
  readonly helpValue?: string;
  readonly options?: readonly string[];
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
    multiple: true,
    helpValue: "<clause>",
    description: "check this clause: an id, a prefix, or a pattern with *; repeatable",
  },
  skip: {
    type: "string",
    multiple: true,
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
  github: { type: "boolean", description: "print GitHub annotations after the report" },
  junit: { type: "string", helpValue: "<file>", description: "also write the report as JUnit XML" },
} as const satisfies Readonly<Record<string, ConformanceFlag>>;

export const BASE_URL_DESCRIPTION =
  "address of the server, for example http://127.0.0.1:8700 or http+unix:///run/decision.sock";

/** What was given on the command line, with the defaults. */
export type Given = ReturnType<typeof readArguments>;

/** Reads the command line of both programs. @throws ServiceError INVALID_OPTION */
export function readArguments(args: readonly string[]) {
  const { values, positionals } = parsed(args);
  const [baseUrl, ...others] = positionals;
  if (baseUrl === undefined || others.length > 0)
    throw invalidOption(`Expected one argument, the ${BASE_URL_DESCRIPTION}, got ${positionals.length}.`);
  const profile = PROFILES.find((one) => one === values.profile);
  if (profile === undefined)
    throw invalidOption(`Expected --profile to be one of ${PROFILES.join(", ")}, got "${values.profile}".`);
  if (values.json && values.github) throw invalidOption("Expected --github without --json, got both.");
  return { ...values, baseUrl, profile };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: CONFORMANCE_FLAGS, allowPositionals: true });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw invalidOption(`${message.split(/\. |\.$/)[0]}.`); // further sentences are about a rare form
  }
}

/** The help of the program without the service. */
export function help(): string {
  const flags: readonly (readonly [string, ConformanceFlag])[] = Object.entries(CONFORMANCE_FLAGS);
  const lines = flags.map(([name, { helpValue, options, description, default: usual }]) => {
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
