/** What SPEC.md states, which any server of the contract must keep; or also what the contract notes decide. */
export const PROFILES = ["seed", "full"] as const;
export type Profile = (typeof PROFILES)[number];

/** One rule of the contract that a client can observe. */
export interface Clause {
  /** Stable, kebab-case parts apart by points: `systemone.answers.names`. */
  readonly id: string;
  /** The rule. */
  readonly clause: string;
  /** Where it is stated: `SPEC.md 2.4`, `notes 18`, `contract /docs` (the service's own OpenAPI document). */
  readonly source: string;
  /** What a server that keeps it does. */
  readonly expected: string;
  /** False: floods, bodies of megabytes or much work for the model; left out by `--gentle`. */
  readonly isGentle: boolean;
  readonly profile: Profile;
}
