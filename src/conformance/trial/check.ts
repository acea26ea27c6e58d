import type { Clause } from "./clause.ts";
import type { Trial } from "./trial.ts";

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

/** Completes a check. Its profile follows from its source: `interface` is seed, `contract` is full. */
export function defineCheck(draft: CheckDraft): Check {
  return {
    isGentle: true,
    needsInference: true,
    turn: "any",
    profile: draft.source.startsWith("interface") ? "seed" : "full",
    ...draft,
  };
}

/** A check without its probe, for a report. */
export function clauseOf(check: Check): Clause {
  const { run: _run, needsInference: _needs, turn: _turn, ...clause } = check;
  return clause;
}
