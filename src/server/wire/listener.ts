import { createServer, type RequestListener, type Server } from "node:http";
import { openExchanges } from "./connections.ts";

/** Milliseconds and bytes that bound a connection. None of them ends a request that is worked on. */
export interface WireLimits {
  /** From the first byte to the end of the headers. */
  readonly headersTimeoutMs: number;
  /** From the first byte to the end of the body. */
  readonly requestTimeoutMs: number;
  /** Idle time between two requests. */
  readonly keepAliveTimeoutMs: number;
  /** For which a client may take nothing of an answer. */
  readonly unreadTimeoutMs: number;
  /** How often the first two are checked. */
  readonly checkIntervalMs: number;
  /** Request line and headers together. */
  readonly maxHeaderBytes: number;
}

/**
 * Chosen: 2 MiB in 60 s is a very slow line. An idle connection outlives the 60 s for which load balancers commonly
 * keep theirs, so that it is never the service that closes one just as a request is sent on it.
 */
export const WIRE_LIMITS: WireLimits = {
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 75_000,
  unreadTimeoutMs: 60_000,
  checkIntervalMs: 1_000,
  maxHeaderBytes: 16 * 1024,
};

/**
 * Node's HTTP server with everything turned off by which it would answer on its own: a missing Host and an Expect
 * header reach the application. There is no `upgrade` listener, so that Node ignores `Upgrade: h2c` as it should.
 */
export function createListener(listener: RequestListener, limits: WireLimits): Server {
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      maxHeaderSize: limits.maxHeaderBytes,
      requireHostHeader: false,
    },
    listener,
  );
  server.timeout = limits.unreadTimeoutMs; // in which nothing comes and nothing goes
  server.on("timeout", (socket) => {
    const isWorkedOn = openExchanges(socket).length > 0 && socket.writableLength === 0;
    if (!isWorkedOn) socket.destroy(); // idle between two requests, or its client does not read
  });
  return server.on("checkContinue", listener).on("checkExpectation", listener);
}
