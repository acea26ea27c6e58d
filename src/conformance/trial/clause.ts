/** `seed`: rules that every implementation must keep. `full`: also the rules that this contract decides. Others: of a dialect. */
export const PROFILES = ["seed", "full", "typesafe", "rerank", "mcp"] as const;
export type Profile = (typeof PROFILES)[number];

/** Whether the profile has clauses of its own, and none of the plain contract's. */
export function isDialect(profile: Profile): boolean {
  return profile !== "seed" && profile !== "full";
}

/** One rule of the contract that a client can observe. */
export interface Clause {
  /** Stable, kebab-case parts apart by points: `systemone.answers.names`. */
  readonly id: string;
  /** The rule. */
  readonly clause: string;
  /** Place in openapi.yaml, a heading of its description, a schema or a path: `interface: Decisions` (seed), `contract: /docs` (full). */
  readonly source: string;
  /** What a server that keeps it does. */
  readonly expected: string;
  /** False: floods, bodies of megabytes or much work for the model; left out by `--gentle`. */
  readonly isGentle: boolean;
  readonly profile: Profile;
}
