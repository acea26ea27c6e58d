import type { IncomingMessage } from "node:http";
import type { RequestRecord } from "./request-record.ts";

/** The trace of one request, from its headers to its answer. */
export interface RequestTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Response header `traceparent`. */
  readonly headers: Readonly<Record<string, string>>;
  end(record: RequestRecord): void;
}

/** Starts traces, or continues those of callers. */
export interface Tracing {
  begin(request: IncomingMessage): RequestTrace;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/;

/** Id of the caller's trace from `traceparent`, for the log. @see https://www.w3.org/TR/trace-context/ */
export function callersTraceId({ headers }: Pick<IncomingMessage, "headers">): string | undefined {
  const { traceparent } = headers;
  if (typeof traceparent !== "string") return undefined;
  return TRACEPARENT.exec(traceparent)?.[1];
}
