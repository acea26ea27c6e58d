import { Batch } from "./batch.ts";
import type { RequestWork } from "./request-work.ts";
import type { ScoreCache } from "./score-cache.ts";
import { sizesOf } from "./size-classes.ts";

export interface BatchLimits {
  readonly maxRequests: number;
  /** New tokens; a single pair may pass it, and a state and question of more than half of it come on top. */
  readonly maxTokens: number;
  /** Each pair alone. */
  readonly isStrict: boolean;
}

/**
 * Which pairs go into the next batch. B is `maxTokens`. Q is what the backend computes in a short time (`BATCH_MS`), at most B. A
 * request's *rest* are the tokens that its pairs left may cost in one batch: their own, their questions', and the state's unless
 * the backend has kept it since an earlier batch of this request. A request is *small* while its rest is at most Q/4, *long*
 * while it is more than Q/2.
 *
 *     0         Q/2             Q                                   B
 *     ├─ oldest ─┤              │                                   │   1. the oldest request, up to Q/2
 *     ├──────────┴─ small ones ─┴───────────────────────────────────┤   2. small requests, up to B
 *     ├──────────┴─ others ─────┤                                       3. others, up to Q beside the small ones: those that
 *                                                                          are not long, then long ones that have begun,
 *                                                                          then long ones that have not
 *
 * Within 2 and within each kind of 3 the smallest rest goes first, the older one among equals, each with as many pairs as fit.
 * Small requests gain by company, since they share forwards. Others gain nothing by a batch of more than Q, and would
 * let the small ones behind it wait.
 *
 * 4. If a batch passed the oldest request over, the oldest one's next pair leads the next batch, whatever it costs. That happens where
 *    the pair counts more than Q/2 and others filled the batch, and by rule 6. In strict mode a batch is one pair: there is no
 *    half to take, so rules 2 to 4 take turns.
 * 5. A request that does not fit whole begins only while fewer than `maxRequests` are under way (or by rule 4), so
 *    that the queue's bound means something: at most `maxRequests` + 1 have begun and have pairs left. While none may begin, the
 *    oldest of those under way counts as the oldest.
 * 6. Of state and question that cost more than Q/2 together, a batch's largest do not count: where a backend keeps neither, each batch
 *    pays for them anew, and with what little is left of Q every candidate would. So a batch has at most B tokens and one such
 *    path. It goes first in its batch or not at all, and where small requests wait, these have a batch to themselves first.
 *
 * Small requests do not wait for others. Let the rests that are not larger than a small request's w add up with w to
 * no more than B/2, of fewer than `maxRequests` requests. Then all its pairs are in the next batch: rule 1 leaves
 * B/2, and rule 2 comes to it before anything larger. If rule 4 leads that batch, they are in the one after, since a
 * batch that rule 4 leads passes nobody over.
 *
 * Long requests do not starve. With c the cost of the oldest request's dearest pair, its state included, every batch takes its last pair or
 * more than Q/2 - c of its tokens, and every second batch at least one pair. So it ends after at most twice as many
 * batches as it has pairs, whatever else arrives, and then the next one is the oldest.
 *
 * What has begun is finished before more is begun: a long request begins only with what is left of Q beside all that have begun.
 * Callers have deadlines, and of many requests begun at the same time all would miss theirs. Requests of one size are served in
 * order of admission: among equal rests the older is first, and one that has begun has the smaller rest.
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
   * @param ready   requests with pairs to hand out
   * @param quantum Q, at most `maxTokens`; that unless given
   */
  form(ready: readonly RequestWork[], quantum = this.#limits.maxTokens): Batch {
    const batch = new Batch();
    const { maxRequests, maxTokens, isStrict } = this.#limits;
    const begun = ready.filter((work) => work.hasBegun);
    const owed = ready.find((work) => work === this.#passedOver);
    const oldest = owed ?? findOldest(begun.length < maxRequests ? ready : begun);
    if (oldest === undefined) return batch;

    // Before the oldest takes its half: what is left of it must not overtake a request that was smaller.
    const { small, middle, long } = sizesOf(ready, quantum);
    const half = isStrict ? 0 : quantum / 2;
    let slots = maxRequests - begun.length;
    const take = (work: RequestWork, room: Pick<Room, "tokens" | "mayExceed">) => {
      const isNew = !work.hasBegun;
      const mayBegin = slots > 0 || work === owed;
      const mayBringPath = (batch.pairCount === 0 && (work === owed || small.length === 0)) || isStrict;
      const before = batch.tokenCount;
      this.#take(batch, work, { ...room, mayBegin, mayBringPath, longPath: quantum / 2 });
      if (isNew && work.hasBegun && work.remainingPairs > 0) slots -= 1;
      return batch.tokenCount - before;
    };
    const ofOldest = take(oldest, { tokens: half, mayExceed: oldest === owed });
    let overtaking = 0;
    for (const work of small) overtaking += take(work, { tokens: maxTokens, mayExceed: true });
    const room = { tokens: Math.min(maxTokens, quantum + overtaking), mayExceed: true };
    for (const work of middle) overtaking += take(work, room);
    let ofLong = long.includes(oldest) ? ofOldest : 0;
    for (const work of long) ofLong += take(work, room);
    batch.longTokens = ofLong;
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
      const after = batch.with({ work, pair });
      const bringsPath = after.longestPath > batch.longestPath && after.longestPath > room.longPath;
      if (bringsPath && !room.mayBringPath && !batch.requests.has(work)) return;
      const counted = after.longestPath > room.longPath ? after.tokens - after.longestPath : after.tokens;
      if (counted > room.tokens && !(isFirst && room.mayExceed)) return;
      batch.add({ work, pair });
      work.handOut();
    }
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
  /** State and question of more than `longPath` tokens together may be brought in. */
  readonly mayBringPath: boolean;
  readonly longPath: number;
}

function findOldest(works: readonly RequestWork[]): RequestWork | undefined {
  let oldest = works[0];
  for (const work of works) if (oldest === undefined || work.order < oldest.order) oldest = work;
  return oldest;
}
