import type { SentRequest } from "./exchange.ts";
import type { Trial } from "./trial.ts";

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

/** When a check runs: beside others, with nothing else under way, or after all others. */
export type Turn = "any" | "alone" | "last";

/** A clause with the probe that tells whether a server keeps it. */
export interface Check extends Clause {
  /** True: pointless without answers from the model; skipped where the server wants a key that was not given. */
  readonly needsInference: boolean;
  readonly turn: Turn;
  /** @throws Broken, CannotTell, or whatever the probe ran into */
  readonly run: (trial: Trial) => Promise<void>;
}

type Defaults = "isGentle" | "needsInference" | "turn" | "profile";
export type CheckDraft = Omit<Check, Defaults> & Partial<Pick<Check, Defaults>>;

/** Completes a check. Its profile follows from its source: SPEC.md holds for every server, the rest for `full`. */
export function defineCheck(draft: CheckDraft): Check {
  return {
    isGentle: true,
    needsInference: true,
    turn: "any",
    profile: draft.source.startsWith("SPEC.md") ? "seed" : "full",
    ...draft,
  };
}

/** The server does not keep the clause. The message says what came. */
export class Broken extends Error {
  override readonly name = "Broken";
  readonly request: SentRequest | undefined;

  constructor(came: string, request?: SentRequest) {
    super(came);
    this.request = request;
  }
}

/** Whether the server keeps the clause cannot be told. The message says why. */
export class CannotTell extends Error {
  override readonly name = "CannotTell";
}
