import type { RenderedRequest } from "../decisions/rendered.ts";
import type { Clock, Engine, ScoredRequest } from "./ports.ts";
import { queueErrors } from "./queue/queue-errors.ts";

/** Chosen: how often a request that has begun looks for a place for its next part. */
const RETRY_MS = 10;

/** The scores of each part, and what all of them took together. */
export interface ScoredParts extends Omit<ScoredRequest, "scores" | "vectors"> {
  /** [parts][questions of the part] */
  readonly scores: readonly ScoredRequest["scores"][];
  /** The same of the vectors, where the engine gives them. */
  readonly vectors: readonly (readonly Float32Array[])[];
}

/**
 * Scores the parts of one request, one after the other: each takes a place in the queue of its own, so that others are served in
 * between. A request whose first part was let in is not refused for a full queue: it waits for places until its deadline.
 *
 * @param arrivedAt on the engine's clock: from then on the deadline counts, for all parts together
 * @throws ServiceError what `Engine.score` throws
 */
export async function scoreInParts(
  { engine, clock }: { readonly engine: Engine; readonly clock: Clock },
  parts: readonly RenderedRequest[],
  signal: AbortSignal,
  arrivedAt: number = clock.now(),
): Promise<ScoredParts> {
  const scored: ScoredRequest[] = [];
  for (const [at, part] of parts.entries()) {
    if (at > 0) await waitForPlace(engine, clock, signal, arrivedAt);
    scored.push(await engine.score(part, signal, arrivedAt));
  }
  const sum = (take: (one: ScoredRequest) => number) => scored.reduce((total, one) => total + take(one), 0);
  return {
    scores: scored.map(({ scores }) => scores),
    vectors: scored.map(({ vectors = [] }) => vectors),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    cachedPairs: sum(({ cachedPairs }) => cachedPairs),
    timing: {
      queue: sum(({ timing }) => timing.queue),
      tokenize: sum(({ timing }) => timing.tokenize),
      inference: sum(({ timing }) => timing.inference),
    },
  };
}

/** @throws ServiceError DEADLINE_EXCEEDED | CANCELLED */
async function waitForPlace(
  engine: Engine,
  clock: Clock,
  signal: AbortSignal,
  arrivedAt: number,
): Promise<void> {
  for (;;) {
    const { settings, counters } = engine.health();
    if (counters.queued < settings.queueCapacity) return;
    if (signal.aborted) throw queueErrors.cancelled();
    if (clock.now() - arrivedAt >= settings.deadlineMs) throw queueErrors.tooLate();
    await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
  }
}
