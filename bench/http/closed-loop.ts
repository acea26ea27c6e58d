import autocannon from "autocannon";
import { NO_ANSWER, Tally } from "../measure/tally.ts";
import type { BenchRequest } from "../workloads/workload.ts";
import type { LoopResult } from "./open-loop.ts";
import { findFault } from "./reply-check.ts";
import type { Target } from "./target.ts";

interface ClosedLoopOptions {
  readonly callers: number;
  /** Time limit. It applies once as many requests have ended as there are callers. */
  readonly budgetMs: number;
  /** Maximum wait for these after the time limit. */
  readonly patienceMs: number;
  /** Maximum number of answers; at least the number of callers. */
  readonly maxRequests: number;
  /** The next request; each is sent once. */
  readonly next: () => BenchRequest;
  readonly signal: AbortSignal;
}

/** autocannon's context of a connection, from a request to its answer. */
interface Context {
  request?: BenchRequest;
  sentAt?: number;
}

/** Interval at which autocannon checks whether to stop. Its default is one second. */
const TICK_MS = 20;
/** Maximum number of lost requests, because autocannon reconnects without a pause. */
const MOST_LOST = 200;
/** Failure name of connections that end without an error. */
const CLOSED = "connection closed without an answer";

/**
 * Callers that each send a request, wait for the answer, and send again. Requests in progress at the end are aborted
 * and do not count, unless the server exceeded the maximum wait.
 */
export async function closedLoop(target: Target, options: ClosedLoopOptions): Promise<LoopResult> {
  const { callers, budgetMs, maxRequests, patienceMs, signal } = options;
  const tally = new Tally();
  const startedAt = performance.now();
  let lastAt = startedAt;
  const isEnough = () => tally.answers >= maxRequests || tally.lost >= MOST_LOST;
  const onAnswer: OnAnswer = ({ request, sentAt = startedAt }, status, body) => {
    if (!request || isEnough()) return; // was in progress at the end
    lastAt = performance.now();
    const fault = findFault(request, status, body);
    tally.answered(status, fault);
    if (fault === undefined) tally.record(lastAt - sentAt);
  };
  const onLost = (reason: string) => {
    if (!isEnough()) tally.failed(reason);
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
      const isTimeUp = elapsed >= budgetMs && tally.answers + tally.lost >= callers;
      isPatient = elapsed < budgetMs + patienceMs;
      if (isEnough() || isTimeUp || !isPatient || signal.aborted) loop.stop();
    }, TICK_MS);
  });
  signal.throwIfAborted();
  for (let missing = isPatient ? 0 : callers - tally.answers - tally.lost; missing > 0; missing--)
    tally.failed(NO_ANSWER);
  return { tally, elapsedMs: lastAt - startedAt };
}

type OnAnswer = (context: Context, status: number, body: string) => void;
type OnLost = (reason: string) => void;

function settings(
  target: Target,
  options: ClosedLoopOptions,
  onAnswer: OnAnswer,
  onLost: OnLost,
): autocannon.Options {
  const { callers, budgetMs, patienceMs, next } = options;
  return {
    ...target.connection,
    connections: callers,
    duration: Math.ceil((budgetMs + patienceMs) / 1000) + 1,
    timeout: 120,
    setupClient: (client) => watchForLost(client, onLost),
    sampleInt: TICK_MS,
    requests: [
      {
        // called for each request of each connection, so that all requests differ
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
 * Detects requests without an answer. When a connection ends, autocannon reconnects and sends the next request. A
 * request sent on a connection whose end the server has announced does not count as lost.
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
