import { Batch } from "./batch.ts";
import type { RequestWork } from "./request-work.ts";
import type { ScoreCache } from "./score-cache.ts";

export interface BatchLimits {
  readonly maxRequests: number;
  /** New tokens; a single pair may pass it, and a state and question of more than half of it come on top. */
  readonly maxTokens: number;
  /** Each pair alone. */
  readonly isStrict: boolean;
}

/**
 * Which pairs go into the next batch. B is `maxTokens`, a request's *rest* the tokens that its pairs left may cost in one
 * batch: their own, their questions', and the state's unless the backend has kept it since an earlier batch of this request.
 *
 *     0                    B/2                      B
 *     ├─ oldest request ────┤                       │   1. the oldest request, up to half
 *     ├──────────┬─────┬────┴─┬─────────────────────┤   2. all, the smallest rest first (the older one among
 *     │ oldest   │  2  │  5   │ 4 ...               │      equals), each as many pairs as fit
 *     └──────────┴─────┴──────┴─────────────────────┘
 *
 * 3. If a batch passed the oldest request over (its next pair counts more than B/2, and others filled the batch),
 *    that pair leads the next batch, whatever it costs. In strict mode a batch is one pair: there is no half to take,
 *    so rules 2 and 3 take turns.
 * 4. A request that does not fit whole begins only while fewer than `maxRequests` are under way (or by rule 3), so
 *    that the queue's bound means something: at most 2 * `maxRequests` + 1 ever run. While none may begin, the oldest
 *    of those under way counts as the oldest.
 *
 * 5. Of state and question that cost more than B/2 together, a batch's largest do not count: where a backend keeps neither, each batch
 *    pays for them anew, and with what little is left of B every candidate would. So a batch has at most B tokens and one such path.
 *
 * Short requests do not wait for long ones. Let the rests that are not larger than a new request's w add up with w to
 * no more than B/2, of fewer than `maxRequests` requests. Then all its pairs are in the next batch: rule 1 leaves B/2,
 * and rule 2 comes to it before anything larger. If rule 3 leads that batch, they are in the one after, since a batch
 * that rule 3 leads passes nobody over.
 *
 * Long requests do not starve. With c the cost of the oldest request's dearest pair, its state included, every batch takes its last pair or
 * more than B/2 - c of its tokens, and every second batch at least one pair. So it ends after at most twice as many
 * batches as it has pairs, whatever else arrives, and then the next one is the oldest.
 *
 * Requests of one size are served in order of admission: among equal rests the older is first, and one that has begun has
 * the smaller rest. Round-robin over them would end all of them late.
 */
export class BatchRule {
  readonly #limits: BatchLimits;
  readonly #cache: ScoreCache;
  #passedOver: RequestWork | undefined;

  constructor(limits: BatchLimits, cache: ScoreCache) {
    this.#limits = limits;
    this.#cache = cache;
  }

  /** Whether there is enough for a batch: waiting for more requests would gain little. */
  isFull(ready: readonly RequestWork[]): boolean {
    if (this.#limits.isStrict || ready.length >= this.#limits.maxRequests) return true;
    const tokens = ready.reduce((sum, work) => sum + work.remainingTokens, 0);
    return tokens >= this.#limits.maxTokens;
  }

  /**
   * Hands pairs out to a new batch and answers pairs that the cache knows by now. Empty only if no pair is left.
   *
   * @param ready requests with pairs to hand out
   */
  form(ready: readonly RequestWork[]): Batch {
    const batch = new Batch();
    const { maxRequests, maxTokens, isStrict } = this.#limits;
    const begun = ready.filter((work) => work.hasBegun);
    const owed = ready.find((work) => work === this.#passedOver);
    const oldest = owed ?? findOldest(begun.length < maxRequests ? ready : begun);
    if (oldest === undefined) return batch;

    // Before the oldest takes its half: what is left of it must not overtake a request that was smaller.
    const smallestFirst = sortBySize(ready);
    const half = isStrict ? 0 : maxTokens / 2;
    let slots = maxRequests - begun.length;
    const take = (work: RequestWork, room: Omit<Room, "mayBegin">) => {
      const isNew = !work.hasBegun;
      this.#take(batch, work, { ...room, mayBegin: slots > 0 || work === owed });
      if (isNew && work.hasBegun && work.remainingPairs > 0) slots -= 1;
    };
    take(oldest, { tokens: half, mayExceed: oldest === owed });
    for (const work of smallestFirst) {
      take(work, { tokens: maxTokens, mayExceed: true });
    }
    this.#passedOver = batch.requests.has(oldest) || oldest.remainingPairs === 0 ? undefined : oldest;
    return batch;
  }

  /** Moves as many of a request's next pairs into the batch as there is room for. */
  #take(batch: Batch, work: RequestWork, room: Room): void {
    for (let pair = this.#nextUnknown(work); pair !== undefined; pair = this.#nextUnknown(work)) {
      const isFirst = batch.pairCount === 0;
      if (this.#limits.isStrict && !isFirst) return;
      if (!batch.requests.has(work) && batch.requests.size >= this.#limits.maxRequests) return;
      const fitsWhole = batch.tokenCount + work.remainingTokens <= room.tokens;
      if (!work.hasBegun && !room.mayBegin && !fitsWhole) return;
      const fits = this.#counted(batch.with({ work, pair })) <= room.tokens;
      if (!fits && !(isFirst && room.mayExceed)) return;
      batch.add({ work, pair });
      work.handOut();
    }
  }

  /** Tokens of a batch that count, see rule 5. */
  #counted({ tokens, longestPath }: ReturnType<Batch["with"]>): number {
    return longestPath > this.#limits.maxTokens / 2 ? tokens - longestPath : tokens;
  }

  /** Answers the request's next pairs as far as the cache knows them. */
  answerKnown(work: RequestWork): void {
    this.#nextUnknown(work);
  }

  #nextUnknown(work: RequestWork): RequestWork["nextPair"] {
    for (let pair = work.nextPair; pair !== undefined; pair = work.nextPair) {
      const score = this.#cache.get(pair.candidate.key);
      if (score === undefined) return pair;
      work.skipKnown(score);
    }
    return undefined;
  }
}

interface Room {
  /** How full the batch may get. */
  readonly tokens: number;
  /** Whether the first pair of a batch may pass that. */
  readonly mayExceed: boolean;
  /** Whether a request that does not fit whole may begin. */
  readonly mayBegin: boolean;
}

function findOldest(works: readonly RequestWork[]): RequestWork | undefined {
  let oldest = works[0];
  for (const work of works) if (oldest === undefined || work.order < oldest.order) oldest = work;
  return oldest;
}

/** Each is measured once: a queue may be long. */
function sortBySize(works: readonly RequestWork[]): readonly RequestWork[] {
  return works
    .map((work) => ({ work, tokens: work.remainingTokens }))
    .sort((a, b) => a.tokens - b.tokens || a.work.order - b.work.order)
    .map(({ work }) => work);
}
