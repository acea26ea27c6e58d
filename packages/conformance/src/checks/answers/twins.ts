import type { Draft, Drafts } from "../../trial/check.ts";
import type { Trial } from "../../trial/trial.ts";
import { type IsSame, isClose, isEqual } from "../scored.ts";

interface Twin<Seen> extends Pick<Draft, "clause" | "expected" | "isGentle"> {
  readonly id: string;
  /** Sends the requests once for both checks. */
  readonly observe: (trial: Trial, see: (seen: Seen) => void) => Promise<unknown>;
  readonly judge: (trial: Trial, seen: Seen, isSame: IsSame) => void;
}

/** Two checks of a rule: the profile `seed` allows the small differences that batching makes, the profile `full` none. */
export function twins<Seen>({ id, expected, observe, judge, ...draft }: Twin<Seen>): Drafts {
  const run = async (trial: Trial, isSame: IsSame) => {
    const all = await trial.shared(id, async () => {
      const found: Seen[] = [];
      await observe(trial, (seen) => found.push(seen));
      return found;
    });
    for (const seen of all) judge(trial, seen, isSame);
  };
  return {
    [id]: {
      ...draft,
      expected: `${expected} (small differences by batching are allowed)`,
      run: (trial) => run(trial, isClose),
    },
    [`${id}.bits`]: {
      ...draft,
      source: "contract: scores",
      expected: `${expected}, to the last bit`,
      run: (trial) => run(trial, isEqual),
    },
  };
}
