import { setMaxListeners } from "node:events";
import { Latencies } from "../measure/latencies.ts";
import { NO_ANSWER, Outcomes, reasonOf } from "../measure/outcomes.ts";
import type { BenchRequest } from "../workloads/workload.ts";
import { findFault } from "./reply-check.ts";
import { ANSWER_TIMEOUT_MS, type Target } from "./target.ts";

export interface ClosedLoopOptions {
  readonly callers: number;
  /** It ends after that, but not before as many requests have ended as there are callers. */
  readonly budgetMs: number;
  /** How long it waits for those beyond the budget. */
  readonly patienceMs?: number;
  /** Answers after which it ends; at least as many as callers. */
  readonly maxRequests: number;
  /** The next request; each is sent once. */
  readonly next: () => BenchRequest;
  readonly signal: AbortSignal;
}

/** Of the closed loop and of the open one. */
export interface LoopResult {
  /** Of the right answers alone. */
  readonly latencies: Latencies;
  /** In the open loop refusals are in the statuses and are no failures. */
  readonly outcomes: Outcomes;
  /** From the start to the last answer, right or wrong. */
  readonly elapsedMs: number;
}

/** Lost requests after which it gives up: callers ask again without a pause. */
const MOST_LOST = 200;

/**
 * Callers that each send, wait for the answer, and send again. Requests that are under way at the end are cut off and do
 * not count, unless the server let the callers wait beyond all patience.
 */
export async function closedLoop(target: Target, options: ClosedLoopOptions): Promise<LoopResult> {
  const { callers, budgetMs, maxRequests, patienceMs = ANSWER_TIMEOUT_MS, next, signal } = options;
  const latencies = new Latencies();
  const outcomes = new Outcomes();
  const end = new AbortController();
  const patience = { signal: AbortSignal.any([signal, end.signal]), timeoutMs: budgetMs + patienceMs };
  setMaxListeners(0, patience.signal); // every request under way listens
  const startedAt = performance.now();
  let lastAt = startedAt;
  let lost = 0;
  const endIfEnough = () => {
    const isTimeUp = performance.now() - startedAt >= budgetMs && outcomes.answers + lost >= callers;
    if (isTimeUp || outcomes.answers >= maxRequests || lost >= MOST_LOST) end.abort();
  };
  const ask = async (request: BenchRequest) => {
    const sentAt = performance.now();
    try {
      const { status, body } = await target.send(request, patience);
      if (patience.signal.aborted) return; // was under way when it was enough
      lastAt = performance.now();
      const fault = findFault(request, status, body);
      outcomes.answered(status, fault);
      if (fault === undefined) latencies.record(lastAt - sentAt);
    } catch (error) {
      if (patience.signal.aborted) return;
      lost += 1;
      outcomes.failed(reasonOf(error));
    }
    endIfEnough();
  };
  const caller = async () => {
    while (!patience.signal.aborted) await ask(next());
  };
  let isPatient = true;
  const loseIt = () => {
    isPatient = false;
    end.abort();
  };
  const timers = [setTimeout(endIfEnough, budgetMs), setTimeout(loseIt, budgetMs + patienceMs)];
  await Promise.all(Array.from({ length: callers }, caller));
  for (const timer of timers) clearTimeout(timer);
  signal.throwIfAborted();
  const missing = isPatient ? 0 : callers - outcomes.answers - lost;
  for (let i = 0; i < missing; i++) outcomes.failed(NO_ANSWER);
  return { latencies, outcomes, elapsedMs: lastAt - startedAt };
}
