import { getOrSet } from "../get-or-set.ts";

/** Number of recent batches in the estimate, which thus follows changes of the machine's speed within some seconds. Chosen: small batches take some 25 ms. */
const KEPT_RUNS = 256;
/** Minimum batches for an estimate. Of three, one may be an outlier; the first of a new process often is. Chosen. */
const FEWEST_RUNS = 3;

interface Run {
  readonly sizeClass: number;
  readonly msPerToken: number;
}

/**
 * Estimates how long the backend takes for a batch from its latest ones. A small batch takes more time per token than a large
 * one, so each size class has its own estimate: the median, which a few outliers do not move.
 */
export class Pace {
  readonly #runs: Run[] = [];
  /** Milliseconds per token, by size class. */
  #estimates: ReadonlyMap<number, number> = new Map();

  /**
   * Records a batch that succeeded.
   *
   * @param tokens its new tokens; ignored if 0
   * @param ms     its duration
   */
  record(tokens: number, ms: number): void {
    if (!(tokens > 0 && ms >= 0)) return;
    this.#runs.push({ sizeClass: sizeClassOf(tokens), msPerToken: ms / tokens });
    if (this.#runs.length > KEPT_RUNS) this.#runs.shift();
    this.#estimates = estimate(this.#runs);
  }

  /** Milliseconds for this many tokens, by the estimate of the nearest size class; undefined before there is one. */
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
   * The number of tokens of a batch that takes `ms`.
   *
   * @param most the result before there is an estimate
   * @returns    an integer from `least` to `most`
   */
  tokensWithin(ms: number, { least, most }: { readonly least: number; readonly most: number }): number {
    let tokens = most;
    // a smaller batch takes more time per token, so each step finds a smaller size; a few steps reach the right class
    for (let step = 0; step < 8; step++) {
      const expected = this.expectedMs(tokens) ?? 0;
      if (expected <= ms) break;
      tokens = Math.floor((tokens * ms) / expected);
    }
    return Math.min(most, Math.max(least, tokens));
  }
}

/** Milliseconds per token by size class, smallest first, so that of two equally near classes the slower one is taken. */
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

/** The median of at least one number; of an even count, the upper of the two middle ones. */
function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
