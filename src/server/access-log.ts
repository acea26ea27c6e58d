import type { Log } from "./log.ts";
import type { RequestRecord } from "./request-record.ts";

/** Logs one line per request: operation, counts, times, request id and name of the key. Never any content of the request. */
export function logAccess(log: Log, record: RequestRecord): void {
  const { method, operation, status, ms, requestId, traceId, keyName, inference } = record;
  log.info(
    {
      method,
      operation,
      status,
      ms: rounded(ms),
      requestId,
      ...(traceId !== undefined && { traceId }),
      ...(keyName !== undefined && { key: keyName }),
      ...(inference !== undefined && timesAndTokens(inference)),
    },
    "request",
  );
}

function timesAndTokens({
  timing,
  inputTokens,
  cachedPairs,
  pairs,
}: NonNullable<RequestRecord["inference"]>) {
  return {
    queueMs: rounded(timing.queue),
    tokenizeMs: rounded(timing.tokenize),
    inferenceMs: rounded(timing.inference),
    inputTokens,
    pairs,
    cachedPairs,
  };
}

const rounded = (ms: number) => Math.round(ms * 100) / 100;
