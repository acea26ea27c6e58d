import fastifyPlugin from "fastify-plugin";
import type { InferenceFacts } from "../contract/call.ts";
import type { Log } from "./log.ts";
import { type RequestListener, type RequestRecord, recordOf } from "./request-record.ts";

/** Tells the listener of each request that Fastify has answered. */
export const requestRecords = fastifyPlugin<{ readonly onRequestEnd: RequestListener }>(
  (app, { onRequestEnd }, done) => {
    app.decorateRequest("trace", undefined);
    app.decorateRequest("keyName", undefined);
    app.decorateRequest("inferences");
    app.addHook("onRequest", (request, _reply, next) => {
      request.inferences = [];
      next();
    });
    app.addHook("onResponse", (request, reply, next) => {
      onRequestEnd(recordOf(request, reply));
      next();
    });
    done();
  },
);

/** Logs one line per request: operation, counts, times, request id and name of the key. Never any content of the request. */
export function logAccess(log: Log, record: RequestRecord): void {
  const { method, operation, status, ms, requestId, traceId, keyName, inferences = [] } = record;
  log.info(
    {
      method,
      operation,
      status,
      ms: rounded(ms),
      requestId,
      ...(traceId !== undefined && { traceId }),
      ...(keyName !== undefined && { key: keyName }),
      ...(inferences.length > 0 && timesAndTokens(inferences)),
    },
    "request",
  );
}

/** Sums, for a request that asked the model more than once. */
function timesAndTokens(inferences: readonly InferenceFacts[]) {
  const sum = (read: (facts: InferenceFacts) => number) =>
    inferences.reduce((total, facts) => total + read(facts), 0);
  return {
    queueMs: rounded(sum(({ timing }) => timing.queue)),
    tokenizeMs: rounded(sum(({ timing }) => timing.tokenize)),
    inferenceMs: rounded(sum(({ timing }) => timing.inference)),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    pairs: sum(({ pairs }) => pairs),
    cachedPairs: sum(({ cachedPairs }) => cachedPairs),
  };
}

const rounded = (ms: number) => Math.round(ms * 100) / 100;
