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
  /** The latest runs, the oldest first. */
  readonly #runs: Run[] = [];
  /** By size class: milliseconds per token of its runs, the fastest first. */
  readonly #times: number[][] = [];

  /**
   * Records a batch that succeeded.
   *
   * @param tokens its new tokens; ignored if 0
   * @param ms     its duration
   */
  record(tokens: number, ms: number): void {
    if (!(tokens > 0 && ms >= 0)) return;
    const run = { sizeClass: sizeClassOf(tokens), msPerToken: ms / tokens };
    this.#runs.push(run);
    const times = this.#timesOf(run);
    times.splice(placeOf(run, times), 0, run.msPerToken);
    if (this.#runs.length > KEPT_RUNS) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const oldest = this.#runs.shift();
    if (oldest === undefined) return;
    const times = this.#timesOf(oldest);
    times.splice(placeOf(oldest, times), 1);
  }

  #timesOf({ sizeClass }: Run): number[] {
    while (this.#times.length <= sizeClass) this.#times.push([]);
    return this.#times[sizeClass] as number[]; // just added
  }

  /** Milliseconds for this many tokens, by the estimate of the nearest size class; undefined before there is one. */
  expectedMs(tokens: number): number | undefined {
    const wanted = sizeClassOf(tokens);
    const furthest = Math.max(wanted, this.#times.length - wanted);
    for (let distance = 0; distance <= furthest; distance++) {
      // of two equally near classes, the one with less tokens is slower
      const msPerToken = this.#medianOf(wanted - distance) ?? this.#medianOf(wanted + distance);
      if (msPerToken !== undefined) return msPerToken * tokens;
    }
    return undefined;
  }

  /** Milliseconds per token; undefined if the class has too few runs. Of an even number, the upper of the two middle ones. */
  #medianOf(sizeClass: number): number | undefined {
    const times = this.#times[sizeClass];
    return times === undefined || times.length < FEWEST_RUNS ? undefined : times[times.length >> 1];
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

/** Sizes of one class differ by less than a factor of two. */
export function sizeClassOf(tokens: number): number {
  return Math.floor(Math.log2(Math.max(1, tokens)));
}

/** Index of a run's time among sorted times, or where it belongs. */
function placeOf({ msPerToken }: Run, sorted: readonly number[]): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] as number) < msPerToken) from = middle + 1;
    else to = middle;
  }
  return from;
}
