import type { IncomingMessage } from "node:http";
import fastifyPlugin from "fastify-plugin";
import { type Log, observe } from "./log.ts";
import { type RequestTrace, recordOf } from "./request-record.ts";

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
