import type { ServiceError } from "../../errors.ts";
import { type BatchRule, isLong } from "../batches/batch-rule.ts";
import type { RequestWork } from "../batches/request-work.ts";
import type { Clock } from "../clock.ts";
import type { SentBatches, Throughput } from "../throughput.ts";
import { queueErrors } from "./ticket.ts";

/** Estimates are multiplied by this before a request is accepted, as a margin for those that are too short. Chosen. */
const PROMISE_MARGIN = 1.25;
/** Time of a batch, which gives the quantum of the batch rule. Measured: 50 and 100 are equally good, 200 is worse. */
const BATCH_MS = 100;
/** Smallest quantum: each batch encodes its questions and reads the keys of its state again. With 256, a request of 32 questions takes 1.17 times as long. */
const LEAST_QUANTUM = 512;
/** Refused callers come back within about this time. Chosen. */
const LONGEST_RETRY_MS = 60_000;

export interface AdmissionParts {
  readonly rule: BatchRule;
  readonly sent: SentBatches;
  readonly throughput: Throughput;
  readonly clock: Clock;
  /** Maximum number of tokens of a batch. */
  readonly maxTokens: number;
}

/** A request that may be refused. */
interface Applicant {
  readonly tokens: number;
  readonly isLong: boolean;
  readonly deadlineAt: number;
}

/** Tokens of requests that are served before another one. */
interface Ahead {
  readonly small: number;
  readonly long: number;
}

/** What the backend does now. */
interface Load {
  readonly now: number;
  /** Until it has computed what it was sent. */
  readonly busyMs: number;
  /** 0 before there are measurements. */
  readonly msPerToken: number;
}

/**
 * Refuses requests that cannot be answered before their deadline: those for which the tokens before them and their own take
 * too long at the measured throughput. Each request is checked once it is tokenized, and waiting ones before each
 * batch, because the backend may have become slower. A request with nothing before it is always tried, so that an
 * estimate that is too long gets corrected.
 */
export class AdmissionControl {
  readonly #parts: AdmissionParts;
  #lastRetryAt = 0;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /** Tokens that the backend computes in a short time. */
  get quantum(): number {
    const { throughput, maxTokens } = this.#parts;
    const msPerToken = throughput.msFor(1);
    if (msPerToken === undefined) return maxTokens;
    return Math.min(maxTokens, Math.max(LEAST_QUANTUM, Math.floor(BATCH_MS / msPerToken)));
  }

  /** Milliseconds until all tokenized work is done; 0 before there are measurements. */
  waitMs(): number {
    const { busyMs, msPerToken } = this.#load();
    return busyMs + msPerToken * this.#parts.rule.tokens;
  }

  /** The refusal of a request that has been tokenized, but is not in the batch rule yet. */
  refusalByTokens({ remainingTokens: tokens, deadlineAt }: RequestWork): ServiceError | undefined {
    const { small, long } = this.#parts.rule;
    const applicant = { tokens, isLong: isLong(tokens, this.quantum), deadlineAt };
    return this.#refusal(applicant, { small: small.tokens, long: long.tokens }, PROMISE_MARGIN);
  }

  /** The refusals of waiting requests that have not begun. */
  refusalsNow(): readonly (readonly [RequestWork, ServiceError])[] {
    const refusals: [RequestWork, ServiceError][] = [];
    const ahead = { small: 0, long: 0 };
    const load = this.#load();
    for (const kind of ["small", "long"] as const) {
      for (const [work, tokens] of this.#parts.rule[kind]) {
        const applicant = { tokens, isLong: kind === "long", deadlineAt: work.deadlineAt };
        const refusal = work.hasBegun ? undefined : this.#refusal(applicant, ahead, 1, load);
        if (refusal === undefined) ahead[kind] += tokens;
        else refusals.push([work, refusal]);
      }
    }
    return refusals;
  }

  #load(): Load {
    const { sent, throughput, clock } = this.#parts;
    const now = clock.now();
    return { now, busyMs: sent.remainingMs(now), msPerToken: throughput.msFor(1) ?? 0 };
  }

  /** @param margin factor of the estimate */
  #refusal(
    { tokens, isLong, deadlineAt }: Applicant,
    ahead: Ahead,
    margin: number,
    { now, busyMs, msPerToken }: Load = this.#load(),
  ): ServiceError | undefined {
    const { rule, sent } = this.#parts;
    if (ahead.small + ahead.long === 0 && sent.count === 0) return undefined;
    // a long one may take the other half of each batch
    const until = isLong
      ? ahead.small + ahead.long + tokens
      : (ahead.small + tokens) * (rule.long.size > 0 ? 2 : 1);
    const lateByMs = busyMs + margin * msPerToken * until - (deadlineAt - now);
    return lateByMs > 0 ? this.#overloaded(lateByMs, msPerToken * tokens) : undefined;
  }

  /**
   * Refused callers are told to come back one after the other, half the time of a request apart, because some never do. If all
   * came back at the time of the next free place, all but one would be refused again.
   */
  #overloaded(lateByMs: number, ownMs: number): ServiceError {
    const now = this.#parts.clock.now();
    const isFarAhead = this.#lastRetryAt > now + LONGEST_RETRY_MS; // the first ones have come back by then
    this.#lastRetryAt = Math.max(now + lateByMs, isFarAhead ? 0 : this.#lastRetryAt) + ownMs / 2;
    return queueErrors.overloaded(this.#lastRetryAt - now);
  }
}
