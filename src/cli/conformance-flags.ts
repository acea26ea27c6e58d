import { PROFILES } from "../conformance/trial/clause.ts";

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
  github: {
    type: "boolean",
    description: "print GitHub annotations after the report",
    exclusive: ["json"],
  },
  junit: { type: "string", helpValue: "<file>", description: "also write the report as JUnit XML" },
} as const satisfies Readonly<Record<string, ConformanceFlag>>;

export type FlagName = keyof typeof CONFORMANCE_FLAGS;

export const BASE_URL_DESCRIPTION = "address of the server, for example http://127.0.0.1:8700";
