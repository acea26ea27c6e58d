/**
 * `seed`: rules that every implementation must satisfy. `full`: these and the further rules of this contract. Others:
 * the rules of one dialect.
 */
export const PROFILES = ["seed", "full", "typesafe", "rerank", "mcp"] as const;
export type Profile = (typeof PROFILES)[number];

/** Whether the profile belongs to a dialect, whose clauses are separate from the plain contract's. */
export function isDialect(profile: Profile): boolean {
  return profile !== "seed" && profile !== "full";
}

/** One rule of the contract that a client can observe. */
export interface Clause {
  /** Stable identifier of kebab-case parts separated by dots: `systemone.answers.names`. */
  readonly id: string;
  /** The rule. */
  readonly clause: string;
  /**
   * Where openapi.yaml states the rule: a heading of its description, a schema or a path. `interface: Decisions`
   * (profile `seed`), `contract: /docs` (profile `full`).
   */
  readonly source: string;
  /** What a conforming server does. */
  readonly expected: string;
  /** False if the check sends floods, bodies of megabytes or much work for the model. `--gentle` leaves these out. */
  readonly isGentle: boolean;
  readonly profile: Profile;
}
