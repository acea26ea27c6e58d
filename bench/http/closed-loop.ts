import autocannon from "autocannon";
import { Latencies } from "../measure/latencies.ts";
import { NO_ANSWER, Outcomes } from "../measure/outcomes.ts";
import type { BenchRequest } from "../workloads/workload.ts";
import { findFault } from "./reply-check.ts";
import type { Target } from "./target.ts";

export interface ClosedLoopOptions {
  readonly callers: number;
  /** It ends after that, but not before there are as many answers as callers. */
  readonly budgetMs: number;
  /** How long it waits for those beyond the budget. */
  readonly patienceMs?: number;
  /** Answers after which it ends; at least as many as callers. */
  readonly maxRequests: number;
  /** The next request; each is sent once. */
  readonly next: () => BenchRequest;
  readonly signal: AbortSignal;
}

export interface LoopResult {
  /** Of the right answers alone. */
  readonly latencies: Latencies;
  readonly outcomes: Outcomes;
  /** From the start to the last answer, right or wrong. */
  readonly elapsedMs: number;
}

/** What autocannon keeps for a connection between its request and the answer. */
interface Context {
  request?: BenchRequest;
}

/** Chosen: a second for each few callers of a slow machine. */
const PATIENCE_MS = 10_000;
/** How often autocannon looks whether it shall stop; by itself, once a second. */
const TICK_MS = 20;
/** Errors of connections after which it gives up: it would connect again without a pause. */
const MOST_ERRORS = 200;

/**
 * Callers that each send, wait for the answer, and send again. Requests that are under way at the end are cut off and do
 * not count, unless the server let the callers wait beyond all patience.
 */
export async function closedLoop(target: Target, options: ClosedLoopOptions): Promise<LoopResult> {
  const { callers, budgetMs, maxRequests, patienceMs = PATIENCE_MS, signal } = options;
  const latencies = new Latencies();
  const outcomes = new Outcomes();
  const startedAt = performance.now();
  let lastAt = startedAt;
  // of the answer that autocannon has shown last; it tells the time that the answer took right after
  let isRight = false;
  const isEnough = () => outcomes.answers >= maxRequests;
  const onAnswer: OnAnswer = (request, status, body) => {
    isRight = false;
    if (isEnough()) return; // was under way when it was enough
    lastAt = performance.now();
    const fault = findFault(request, status, body);
    outcomes.answered(status, fault);
    isRight = fault === undefined;
  };
  let isPatient = true;
  await new Promise<void>((resolve, reject) => {
    const onEnd = (error: unknown) => {
      clearInterval(timer);
      if (error) reject(error);
      else resolve();
    };
    const loop = autocannon(settings(target, options, onAnswer), onEnd);
    const timer = setInterval(() => {
      const elapsed = performance.now() - startedAt;
      const isTimeUp = elapsed >= budgetMs && outcomes.answers >= callers;
      isPatient = elapsed < budgetMs + patienceMs;
      if (isTimeUp || !isPatient || signal.aborted) loop.stop();
    }, TICK_MS);
    loop.on("response", (_client, _status, _bytes, responseMs) => {
      if (isRight) latencies.record(responseMs);
      isRight = false;
      if (isEnough()) loop.stop();
    });
    loop.on("reqError", (error: Error) => outcomes.failed(error.message || error.name));
  });
  signal.throwIfAborted();
  for (let missing = isPatient ? 0 : callers - outcomes.answers; missing > 0; missing--) {
    outcomes.failed(NO_ANSWER);
  }
  return { latencies, outcomes, elapsedMs: lastAt - startedAt };
}

type OnAnswer = (request: BenchRequest, status: number, body: string) => void;

function settings(target: Target, options: ClosedLoopOptions, onAnswer: OnAnswer): autocannon.Options {
  const { callers, budgetMs, patienceMs = PATIENCE_MS, next } = options;
  return {
    url: target.url,
    connections: callers,
    duration: Math.ceil((budgetMs + patienceMs) / 1000) + 1,
    timeout: 120,
    bailout: MOST_ERRORS,
    sampleInt: TICK_MS,
    requests: [
      {
        // called for each request of each connection: no two send the same
        setupRequest(request, context: Context) {
          const chosen = next();
          context.request = chosen;
          const { operation, body } = chosen;
          const path = target.pathOf(operation);
          return { ...request, method: "POST", path, headers: { ...target.headers }, body };
        },
        onResponse(status, body, context: Context) {
          if (context.request) onAnswer(context.request, status, body);
        },
      },
    ],
  };
}
