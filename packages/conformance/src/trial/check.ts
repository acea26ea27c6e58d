import type { Clause } from "./clause.ts";
import type { Trial } from "./trial.ts";

/** When a check runs: concurrently with others, alone, or after all others. */
export type Turn = "any" | "alone" | "last";

/** A clause and the function that tests a server for it. */
export interface Check extends Clause {
  /** True if the check needs answers from the model. It is skipped if the server requires a key and none was given. */
  readonly needsInference: boolean;
  readonly turn: Turn;
  /** @throws Broken, CannotTell, or any other error, such as NoAnswer */
  readonly run: (trial: Trial) => Promise<void>;
}

type Defaults = "isGentle" | "needsInference" | "turn" | "profile";
export type CheckDraft = Omit<Check, Defaults> & Partial<Pick<Check, Defaults>>;

/**
 * Completes a check. Its profile follows from its source: `interface: ...` gives `seed`, `contract: ...` gives `full`.
 */
export function defineCheck(draft: CheckDraft): Check {
  return {
    isGentle: true,
    needsInference: true,
    turn: "any",
    profile: draft.source.startsWith("interface") ? "seed" : "full",
    ...draft,
  };
}

/** A check without its functions, for a report. */
export function clauseOf(check: Check): Clause {
  const { run: _run, needsInference: _needs, turn: _turn, ...clause } = check;
  return clause;
}
