import { Batch } from "./batch.ts";
import type { RequestWork } from "./request-work.ts";
import type { ScoreCache } from "./score-cache.ts";
import { isLong, sizesOf } from "./size-classes.ts";

/** Smallest S, in tokens: two forwards of 128. Fewer do not keep two processors busy. */
export const LEAST_SMALL = 256;

export interface BatchLimits {
  readonly maxRequests: number;
  /** Maximum number of new tokens. Two exceptions: a single pair may have more, and rule 6 below does not count one large state and question. */
  readonly maxTokens: number;
  /** One pair per batch. */
  readonly isStrict: boolean;
  /** Number of younger requests by which a request may be overtaken while the queue is at least half full. Usually the queue's capacity. */
  readonly mostOvertaken: number;
}

/**
 * Which pairs go into the next batch.
 *
 * | name | meaning |
 * | --- | --- |
 * | B | `maxTokens` |
 * | Q | the quantum: the number of tokens that the backend computes in `BATCH_MS`; at most B |
 * | S | room for small requests beside the oldest request: Q/2 if that is not small, else Q/4, but at least `LEAST_SMALL`. B if small ones of at least B/2, or at least `maxRequests` of them, wait |
 * | rest | of a request: the maximum number of new tokens that its remaining pairs can cost in one batch. Counts their candidates and questions, and the state unless the backend has probably cached it (`held-states.ts`) |
 * | small, middle, long | requests by their rest: at most Q/4; at most Q/2; more |
 *
 * A batch is filled in this order:
 *
 *     0         Q/2             Q                                   B
 *     ├─ oldest ─┤              │                                   │   1. the oldest request, up to Q/2
 *     ├──────────┴─ small ones ─┴───────────────────────────────────┤   2. small requests, up to S beside the oldest, at most B
 *     ├──────────┴─ others ─────┤                                       3. unless small ones are left, others, until these fill Q:
 *                                                                          first middle ones, then long ones that have begun, then
 *                                                                          other long ones
 *
 * Within a group the smallest rest goes first, and the older request among equals. A request that `MOST_MISSED_BATCHES` batches
 * left out is overdue: it goes before the rest of its group, the oldest first. Each gets as many pairs into the batch as fit.
 * All requests of a batch are answered at its end, so S keeps batches of small requests short. If many wait, larger batches
 * have a slightly higher throughput. The others gain nothing from a batch larger than Q, and would delay the small requests
 * behind it.
 *
 * 4. If a batch took nothing of the oldest request, the next batch begins with that request's next pair, whatever it costs.
 *    This happens if the pair costs more than Q/2 and others filled the batch, or by rule 6. In strict mode a batch is one
 *    pair, so rules 2 to 4 take turns.
 * 5. A request that does not fit whole may begin only while fewer than `maxRequests` are partly computed (or by rule 4). So at
 *    most `maxRequests` + 1 requests are partly computed at any time, and the limit of the queue keeps its meaning. While
 *    none may begin, "the oldest" is the oldest of those.
 * 6. If a pair's state and question cost more than Q/2 together, the largest such ones of a batch do not count.
 *    A backend that does not cache the state computes it again in each batch; if it counted, little room would be left
 *    for candidates. A batch has at most one such state and question, which must come first. If small requests wait, they
 *    get a batch of their own before it.
 * 7. A request that `mostOvertaken` younger ones have overtaken is late. While one is late and at least half as many requests
 *    are ready, batches are filled in order of admission, up to B, and take any number of large states and questions. In strict
 *    mode rule 4 is enough.
 *
 * Guarantees:
 *
 * - In a full queue, a request waits for about `mostOvertaken` others besides those before it. All requests older than a late one
 *   are late, too, because each of its overtakers has overtaken them as well.
 * - Unless a request is late, small requests do not wait for larger ones. Take a small request, all requests that are not larger than it, and all small
 *   ones that are overdue: if their rests add up to at most S and at most B/2, and they are fewer than `maxRequests`, then the
 *   request is in the next batch, or in the one after if rule 4 begins the next batch. Rule 1 leaves B/2, and rule 2 comes
 *   before anything larger.
 * - Small requests do not starve. Only older ones go before an overdue one.
 * - Long requests do not starve. Of the oldest request, every second batch takes at least one pair. So it is done after at
 *   most twice as many batches as it has pairs, whatever else arrives.
 * - Requests that have begun are finished before others begin. If many requests were computed a little at a time, all would
 *   miss their deadlines. Requests of equal size are served in order of admission.
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
   * Forms the next batch, and answers pairs that are in the score cache by now. The batch is empty only if it has answered pairs, or
   * none is left.
   *
   * @param ready   requests with remaining pairs
   * @param quantum Q; at most `maxTokens`, which is the default
   */
  form(ready: readonly RequestWork[], quantum = this.#limits.maxTokens): Batch {
    const untouched = new Set(ready.filter(({ hasBegun }) => !hasBegun));
    const inOrder = this.#fillInOrder(ready, quantum);
    const batch = inOrder.pairCount > 0 ? inOrder : this.#fillBySize(ready, quantum);
    if (batch.pairCount > 0) noteLeftOut(ready, batch, untouched);
    return batch;
  }

  /** Rule 7. The batch is empty if no request is late. */
  #fillInOrder(ready: readonly RequestWork[], quantum: number): Batch {
    const batch = new Batch();
    if (!this.#hasLate(ready)) return batch;
    const { maxRequests, maxTokens } = this.#limits;
    const mayBegin = ready.filter(({ hasBegun }) => hasBegun).length < maxRequests;
    const room = { tokens: maxTokens, mayExceed: true, mayBegin, mayBringPath: true, longPath: quantum / 2 };
    for (const work of ready.toSorted((a, b) => a.order - b.order)) {
      const { remainingTokens } = work;
      const before = batch.tokenCount;
      this.#take(batch, work, room);
      if (isLong(remainingTokens, quantum)) batch.longTokens += batch.tokenCount - before;
      if (work.remainingPairs > 0 && batch.pairCount > 0) break; // nothing overtakes it
    }
    if (this.#passedOver && batch.requests.has(this.#passedOver)) this.#passedOver = undefined;
    return batch;
  }

  #hasLate(ready: readonly RequestWork[]): boolean {
    const { isStrict, mostOvertaken } = this.#limits;
    if (isStrict || ready.length < mostOvertaken / 2) return false;
    return ready.some(({ overtakenBy }) => overtakenBy >= mostOvertaken);
  }

  #fillBySize(ready: readonly RequestWork[], quantum: number): Batch {
    const batch = new Batch();
    const { maxRequests, maxTokens, isStrict } = this.#limits;
    const begun = ready.filter((work) => work.hasBegun);
    const owed = ready.find((work) => work === this.#passedOver);
    const oldest = owed ?? findOldest(begun.length < maxRequests ? ready : begun);
    if (oldest === undefined) return batch;

    // sorted before the oldest request takes its share: its smaller rest must not move it before smaller requests
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
    const forSmall = Math.min(maxTokens, ofOldest + this.#roomForSmall(small, oldest, quantum));
    for (const work of small) overtaking += take(work, { tokens: forSmall, mayExceed: true });
    const isLeftOut = (work: RequestWork) =>
      work.remainingPairs > 0 && batch.tokenCount + work.remainingTokens > forSmall;
    const isCut = forSmall < maxTokens && small.some(isLeftOut);
    const room = {
      tokens: isCut ? batch.tokenCount : Math.min(maxTokens, quantum + overtaking),
      mayExceed: true,
    };
    for (const work of middle) overtaking += take(work, room);
    let ofLong = long.includes(oldest) ? ofOldest : 0;
    for (const work of long) ofLong += take(work, room);
    batch.longTokens = ofLong;
    if (batch.pairCount > 0)
      this.#passedOver = batch.requests.has(oldest) || oldest.remainingPairs === 0 ? undefined : oldest;
    return batch;
  }

  /** S */
  #roomForSmall(small: readonly RequestWork[], oldest: RequestWork, quantum: number): number {
    const { maxTokens, maxRequests } = this.#limits;
    const waiting = small.reduce((sum, { remainingTokens }) => sum + remainingTokens, 0);
    if (waiting >= maxTokens / 2 || small.length >= maxRequests) return maxTokens;
    return Math.max(LEAST_SMALL, small.includes(oldest) ? quantum / 4 : quantum / 2);
  }

  /** Moves as many of a request's next pairs into the batch as there is room for. */
  #take(batch: Batch, work: RequestWork, room: Room): void {
    for (let pair = this.#nextUnknown(work); pair !== undefined; pair = this.#nextUnknown(work)) {
      const isFirst = batch.pairCount === 0;
      if (this.#limits.isStrict && !isFirst) return;
      if (!batch.requests.has(work) && batch.requests.size >= this.#limits.maxRequests) return;
      const fitsWhole = this.#limits.isStrict
        ? work.remainingPairs === 1
        : batch.tokenCount + work.remainingTokens <= room.tokens;
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

  /** Answers the request's next pairs from the score cache, up to the first one that is not there. */
  answerKnown(work: RequestWork): void {
    this.#nextUnknown(work);
  }

  #nextUnknown(work: RequestWork): RequestWork["nextPair"] {
    for (let pair = work.nextPair; pair !== undefined; pair = work.nextPair) {
      const score = this.#cache.get(pair.leaf.key);
      if (score === undefined) return pair;
      work.skipKnown(score);
    }
    return undefined;
  }
}

interface Room {
  /** Tokens that the batch may have. */
  readonly tokens: number;
  /** Whether the first pair of a batch may have more. */
  readonly mayExceed: boolean;
  /** Whether a request that does not fit whole may begin. */
  readonly mayBegin: boolean;
  /** Whether a state and question of more than `longPath` tokens together may be added (rule 6). */
  readonly mayBringPath: boolean;
  readonly longPath: number;
}

/**
 * Counts the batch for the requests that it left out, and those that overtook a request in it.
 *
 * @param untouched requests that had not begun before the batch
 */
function noteLeftOut(ready: readonly RequestWork[], batch: Batch, untouched: ReadonlySet<RequestWork>): void {
  const begun = [...batch.requests].filter((work) => untouched.has(work));
  for (const work of ready) {
    if (!batch.requests.has(work)) work.missedBatches += 1;
    work.overtakenBy += begun.filter((other) => other.order > work.order).length;
  }
}

function findOldest(works: readonly RequestWork[]): RequestWork | undefined {
  let oldest = works[0];
  for (const work of works) if (oldest === undefined || work.order < oldest.order) oldest = work;
  return oldest;
}
