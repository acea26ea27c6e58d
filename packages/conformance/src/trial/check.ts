import type { Clause, Profile } from "./clause.ts";
import type { Trial } from "./trial.ts";

/** When a check runs: concurrently with others, alone, or after all others. */
type Turn = "any" | "alone" | "last";

/** A clause and the function that tests a server for it. */
export interface Check extends Clause {
  /** True if the check needs answers from the model. It is skipped if the server requires a key and none was given. */
  readonly needsInference: boolean;
  readonly turn: Turn;
  /** @throws Broken, CannotTell, or any other error, such as NoAnswer */
  readonly run: (trial: Trial) => Promise<unknown>;
}

/** A check without what it shares with its neighbours. */
export type Draft = Pick<Check, "clause" | "expected" | "run"> &
  Partial<Pick<Check, "source" | "isGentle" | "needsInference" | "turn">>;
export type Drafts = Readonly<Record<string, Draft>>;

/** Checks of the rules that one place of the contract states, by id. */
export function checksOf(place: string, drafts: Drafts, needsInference = true): readonly Check[] {
  return Object.entries(drafts).map(([id, { source = place, ...draft }]) => {
    const profile = source.startsWith("interface") ? "seed" : "full";
    return { id, source, profile, isGentle: true, needsInference, turn: "any", ...draft };
  });
}

/** The same for checks that need no answer of the model, so they run without a key too. */
export function keylessChecksOf(source: string, drafts: Drafts): readonly Check[] {
  return checksOf(source, drafts, false);
}

/** The same for a dialect, whose name begins each id and source. */
export function dialectChecks(profile: Profile, source: string, drafts: Drafts): readonly Check[] {
  return checksOf(`${profile}: ${source}`, drafts).map((check) => ({
    ...check,
    id: `${profile}.${check.id}`,
    profile,
  }));
}

/** A check without its functions, for a report. */
export function clauseOf(check: Check): Clause {
  const { run: _run, needsInference: _needs, turn: _turn, ...clause } = check;
  return clause;
}
