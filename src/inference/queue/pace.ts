import { getOrSet } from "../get-or-set.ts";

/** Chosen: the estimate follows a machine that becomes slower or faster within some tens of batches. */
const KEPT_RUNS = 64;
/** Chosen: of three runs one may be an outlier, as the first of a new process often is. */
const FEWEST_RUNS = 3;

interface Run {
  readonly sizeClass: number;
  readonly msPerToken: number;
}

/**
 * How long the backend takes for a batch, estimated from its latest runs. A small batch takes more time for each token than a
 * large one, so each class of sizes has an estimate of its own: the median, which a few outliers do not move.
 */
export class Pace {
  readonly #runs: Run[] = [];
  /** Milliseconds a token, by class of size. */
  #estimates: ReadonlyMap<number, number> = new Map();

  /**
   * Takes note of a run that came to its end.
   *
   * @param tokens new tokens of the batch; a run without any is passed over
   * @param ms that it took
   */
  record(tokens: number, ms: number): void {
    if (!(tokens > 0 && ms >= 0)) return;
    this.#runs.push({ sizeClass: sizeClassOf(tokens), msPerToken: ms / tokens });
    if (this.#runs.length > KEPT_RUNS) this.#runs.shift();
    this.#estimates = estimate(this.#runs);
  }

  /** Milliseconds for so many tokens, by the runs nearest in size; undefined before there are enough of them. */
  expectedMs(tokens: number): number | undefined {
    const wanted = sizeClassOf(tokens);
    let nearest: { readonly distance: number; readonly msPerToken: number } | undefined;
    for (const [sizeClass, msPerToken] of this.#estimates) {
      const distance = Math.abs(sizeClass - wanted);
      if (nearest === undefined || distance < nearest.distance) nearest = { distance, msPerToken };
    }
    return nearest && nearest.msPerToken * tokens;
  }

  /**
   * Tokens of a batch that takes so long.
   *
   * @param most the largest batch; also what is said before there are enough runs
   * @returns a whole number from `least` to `most`
   */
  tokensWithin(ms: number, { least, most }: { readonly least: number; readonly most: number }): number {
    let tokens = most;
    // a smaller batch takes more time for each token: each step finds a smaller one, and a few find its class
    for (let step = 0; step < 8; step++) {
      const expected = this.expectedMs(tokens) ?? 0;
      if (expected <= ms) break;
      tokens = Math.floor((tokens * ms) / expected);
    }
    return Math.min(most, Math.max(least, tokens));
  }
}

/** Smallest class first: of two that are equally near, it is the one that expects more time. */
function estimate(runs: readonly Run[]): ReadonlyMap<number, number> {
  const classes = new Map<number, Run[]>();
  for (const run of runs) getOrSet<number, Run[]>(classes, run.sizeClass, () => []).push(run);
  return new Map(
    [...classes]
      .filter(([, ofClass]) => ofClass.length >= FEWEST_RUNS)
      .sort(([a], [b]) => a - b)
      .map(([sizeClass, ofClass]) => [sizeClass, median(ofClass.map(({ msPerToken }) => msPerToken))]),
  );
}

/** Sizes of one class differ by less than a factor of two. */
export function sizeClassOf(tokens: number): number {
  return Math.floor(Math.log2(Math.max(1, tokens)));
}

/** Of one number or more; the upper one of the two in the middle. */
function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
