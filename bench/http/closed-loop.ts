import autocannon from "autocannon";
import { Latencies } from "../measure/latencies.ts";
import { Outcomes } from "../measure/outcomes.ts";
import { type BenchRequest, OPERATION_PATHS } from "../workloads/workload.ts";
import { findFault } from "./reply-check.ts";
import type { Target } from "./target.ts";

export interface ClosedLoopOptions {
  readonly callers: number;
  /** It ends after that, but not before there are as many answers as callers; `PATIENCE_MS` later in any case. */
  readonly budgetMs: number;
  /** At least as many as callers. */
  readonly maxRequests: number;
  /** The next request; each is sent once. */
  readonly next: () => BenchRequest;
  readonly signal: AbortSignal;
}

export interface LoopResult {
  readonly latencies: Latencies;
  readonly outcomes: Outcomes;
  /** From the start to the last answer. */
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
 * not count.
 */
export async function closedLoop(target: Target, options: ClosedLoopOptions): Promise<LoopResult> {
  const { callers, budgetMs, maxRequests, signal } = options;
  const latencies = new Latencies();
  const outcomes = new Outcomes();
  const startedAt = performance.now();
  let lastAt = startedAt;
  await new Promise<void>((resolve, reject) => {
    const onEnd = (error: unknown) => {
      clearInterval(timer);
      if (error) reject(error);
      else resolve();
    };
    const loop = autocannon(settings(target, options, outcomes), onEnd);
    const timer = setInterval(() => {
      const elapsed = performance.now() - startedAt;
      const isTimeUp = elapsed >= budgetMs && latencies.count >= callers;
      if (isTimeUp || elapsed >= budgetMs + PATIENCE_MS || signal.aborted) loop.stop();
    }, TICK_MS);
    loop.on("response", (_client, _status, _bytes, responseMs) => {
      if (latencies.count >= maxRequests) return; // was under way when it was enough
      lastAt = performance.now();
      latencies.record(responseMs);
      if (latencies.count >= maxRequests) loop.stop();
    });
    loop.on("reqError", (error: Error) => outcomes.failed(error.message));
  });
  signal.throwIfAborted();
  return { latencies, outcomes, elapsedMs: lastAt - startedAt };
}

function settings(target: Target, options: ClosedLoopOptions, outcomes: Outcomes): autocannon.Options {
  const { callers, budgetMs, next } = options;
  return {
    url: target.url,
    connections: callers,
    duration: Math.ceil((budgetMs + PATIENCE_MS) / 1000) + 1,
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
          const path = OPERATION_PATHS[operation];
          return { ...request, method: "POST", path, headers: { ...target.headers }, body };
        },
        onResponse(status, body, context: Context) {
          if (context.request) outcomes.answered(status, findFault(context.request, status, body));
        },
      },
    ],
  };
}
