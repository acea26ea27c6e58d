import autocannon from "autocannon";
import { Latencies } from "../measure/latencies.ts";
import { NO_ANSWER, Outcomes } from "../measure/outcomes.ts";
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
  sentAt?: number;
}

/** How often autocannon looks whether it shall stop; by itself, once a second. */
const TICK_MS = 20;
/** Lost requests after which it gives up: autocannon connects again without a pause. */
const MOST_LOST = 200;
/** Of connections that end without an error. */
const CLOSED = "connection closed without an answer";

/**
 * Callers that each send, wait for the answer, and send again. Requests that are under way at the end are cut off and do
 * not count, unless the server let the callers wait beyond all patience.
 */
export async function closedLoop(target: Target, options: ClosedLoopOptions): Promise<LoopResult> {
  const { callers, budgetMs, maxRequests, patienceMs = ANSWER_TIMEOUT_MS, signal } = options;
  const latencies = new Latencies();
  const outcomes = new Outcomes();
  const startedAt = performance.now();
  let lastAt = startedAt;
  let lost = 0;
  const isEnough = () => outcomes.answers >= maxRequests || lost >= MOST_LOST;
  const onAnswer: OnAnswer = ({ request, sentAt = startedAt }, status, body) => {
    if (!request || isEnough()) return; // was under way when it was enough
    lastAt = performance.now();
    const fault = findFault(request, status, body);
    outcomes.answered(status, fault);
    if (fault === undefined) latencies.record(lastAt - sentAt);
  };
  const onLost = (reason: string) => {
    if (isEnough()) return;
    lost += 1;
    outcomes.failed(reason);
  };
  let isPatient = true;
  await new Promise<void>((resolve, reject) => {
    const onEnd = (error: unknown) => {
      clearInterval(timer);
      if (error) reject(error);
      else resolve();
    };
    const loop = autocannon(settings(target, options, onAnswer, onLost), onEnd);
    const timer = setInterval(() => {
      const elapsed = performance.now() - startedAt;
      const isTimeUp = elapsed >= budgetMs && outcomes.answers + lost >= callers;
      isPatient = elapsed < budgetMs + patienceMs;
      if (isEnough() || isTimeUp || !isPatient || signal.aborted) loop.stop();
    }, TICK_MS);
  });
  signal.throwIfAborted();
  for (let missing = isPatient ? 0 : callers - outcomes.answers - lost; missing > 0; missing--) {
    outcomes.failed(NO_ANSWER);
  }
  return { latencies, outcomes, elapsedMs: lastAt - startedAt };
}

type OnAnswer = (context: Context, status: number, body: string) => void;
type OnLost = (reason: string) => void;

function settings(
  target: Target,
  options: ClosedLoopOptions,
  onAnswer: OnAnswer,
  onLost: OnLost,
): autocannon.Options {
  const { callers, budgetMs, patienceMs = ANSWER_TIMEOUT_MS, next } = options;
  return {
    url: target.url,
    connections: callers,
    duration: Math.ceil((budgetMs + patienceMs) / 1000) + 1,
    timeout: 120,
    setupClient: (client) => watchForLost(client, onLost),
    sampleInt: TICK_MS,
    requests: [
      {
        // called for each request of each connection: no two send the same
        setupRequest(request, context: Context) {
          const chosen = next();
          context.request = chosen;
          const { operation, body } = chosen;
          const path = target.pathOf(operation);
          context.sentAt = performance.now();
          return { ...request, method: "POST", path, headers: { ...target.headers }, body };
        },
        onResponse(status, body, context: Context) {
          onAnswer(context, status, body);
        },
      },
    ],
  };
}

/**
 * Tells of requests that no answer comes to: where a connection ends, with an error or without, autocannon connects again and
 * sends the next. The one that it sends on a connection whose end the server has announced is not lost by the server.
 */
function watchForLost(client: NodeJS.EventEmitter, onLost: OnLost): void {
  let isWaiting = false;
  let isEnding = false;
  let reason = CLOSED;
  client.on("request", () => {
    if (isWaiting && !isEnding) onLost(reason);
    if (isWaiting) isEnding = false;
    isWaiting = true;
    reason = CLOSED;
  });
  client.on("connError", (error: Error) => {
    reason = error.message || error.name;
  });
  client.on("headers", ({ shouldKeepAlive }: { shouldKeepAlive: boolean }) => {
    isEnding = !shouldKeepAlive;
  });
  client.on("response", () => {
    isWaiting = false;
  });
}
