import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import fastifyPlugin from "fastify-plugin";
import type { InferenceFacts } from "../contract/call.ts";
import { CODE_HEADER } from "../contract/error-reply.ts";
import { type Log, observe } from "./log.ts";
import type { Connections } from "./wire/connections.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** True after the shutdown signal. Every response then closes its connection. */
    isDraining: boolean;
    connections: Connections;
  }
  interface FastifyRequest {
    /** Facts about each answer of the model: usually one, several for a batch of MCP. */
    inferences: InferenceFacts[];
    trace: RequestTrace | undefined;
    keyName: string | undefined;
  }
  interface FastifyContextConfig {
    operationId?: string;
    /** A second header that repeats x-request-id in responses. */
    requestIdHeader?: string;
  }
}

/** Facts about an answered request, without its content. */
export interface RequestRecord {
  /** Undefined if there was no valid request: broken HTTP, late headers. */
  readonly method: string | undefined;
  /** Undefined for files of the documentation, unknown paths, and if there was no valid request. */
  readonly operation: string | undefined;
  readonly status: number;
  /** The code of an error, as in `x-decision-error`. */
  readonly code?: string | undefined;
  /** Time from its headers to its answer; 0 if there was no valid request. */
  readonly ms: number;
  readonly requestId: string;
  /** Id of the caller's trace, or of a new one. */
  readonly traceId?: string | undefined;
  /** Name of the key that it was sent with. */
  readonly keyName?: string | undefined;
  /** Of each answer of the model; none for requests that it did not answer. */
  readonly inferences?: readonly InferenceFacts[];
}

/** Called once for each request. */
export type RequestListener = (record: RequestRecord) => void;

/** The trace of one request, from its headers to its answer. */
export interface RequestTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Response header `traceparent`. */
  readonly headers: Readonly<Record<string, string>>;
  end(record: RequestRecord): void;
}

export function recordOf(request: FastifyRequest, reply: FastifyReply): RequestRecord {
  const code = reply.getHeader(CODE_HEADER);
  return {
    method: request.method,
    operation: request.routeOptions.config.operationId,
    status: reply.statusCode,
    code: typeof code === "string" ? code : undefined,
    ms: reply.elapsedTime,
    requestId: request.id,
    traceId: request.trace?.traceId ?? callersTraceId(request.raw),
    keyName: request.keyName,
    inferences: request.inferences,
  };
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/;

/** Id of the caller's trace from `traceparent`, for the log. @see https://www.w3.org/TR/trace-context/ */
export function callersTraceId({ headers }: Pick<IncomingMessage, "headers">): string | undefined {
  const { traceparent } = headers;
  if (typeof traceparent !== "string") return undefined;
  return TRACEPARENT.exec(traceparent)?.[1];
}

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
  const { method, operation, status, code, ms, requestId, traceId, keyName, inferences = [] } = record;
  log.info(
    {
      method,
      operation,
      status,
      ...(code !== undefined && { code }),
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

/** Starts traces, or continues those of callers. */
export interface Tracing {
  begin(request: IncomingMessage): RequestTrace;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

interface TracingOptions {
  readonly tracing: Tracing;
  readonly log: Log;
}

/** A trace for each request. */
export const traces = fastifyPlugin<TracingOptions>((app, { tracing, log }, done) => {
  app.addHook("onRequest", (request, reply, next) => {
    observe(log, "tracing", () => {
      request.trace = tracing.begin(request.raw);
      reply.headers(request.trace.headers);
    });
    next();
  });
  app.addHook("onResponse", (request, reply, next) => {
    observe(log, "tracing", () => request.trace?.end(recordOf(request, reply)));
    next();
  });
  done();
});
