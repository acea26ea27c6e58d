import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { openExchanges } from "./connections.ts";

/** What bounds connections. None of it ends a request that is worked on. */
export interface WireLimits {
  /** Open at a time. */
  readonly maxConnections: number;
  /** From the first byte to the end of the headers. */
  readonly headersTimeoutMs: number;
  /**
   * From the first byte to the end of a body that nobody reads, since its request has its answer. One that is read is late when
   * the request's deadline passes.
   */
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

/** A certificate chain and its private key, in PEM. */
export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** A check of the timeouts may come that much late. */
const TIMEOUT_SLACK_MS = 5_000;

/** What an operator can set. */
export type ChosenWireLimits = Pick<WireLimits, "maxConnections" | "headersTimeoutMs">;

/**
 * An idle connection outlives the 60 s for which load balancers commonly keep theirs, so that it is never the service that
 * closes one just as a request is sent on it.
 *
 * @param deadlineMs of a request, from its headers to its answer: before that has passed, nothing else ends it
 */
export function wireLimits(chosen: ChosenWireLimits, deadlineMs: number): WireLimits {
  const requestTimeoutMs = chosen.headersTimeoutMs + deadlineMs + TIMEOUT_SLACK_MS;
  return { ...FIXED_LIMITS, ...chosen, requestTimeoutMs };
}

/** Chosen. */
const FIXED_LIMITS = {
  keepAliveTimeoutMs: 75_000,
  unreadTimeoutMs: 60_000,
  checkIntervalMs: 1_000,
  maxHeaderBytes: 16 * 1024,
};

/**
 * Node's HTTP server with everything turned off by which it would answer on its own: a missing Host and an Expect
 * header reach the application. There is no `upgrade` listener, so that Node ignores `Upgrade: h2c` as it should.
 */
export function createListener(listener: RequestListener, limits: WireLimits, tls?: TlsFiles): Server {
  const settings = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    maxHeaderSize: limits.maxHeaderBytes,
    requireHostHeader: false,
  };
  const server =
    tls === undefined
      ? createServer(settings, listener)
      : createTlsServer({ ...settings, ...tls, handshakeTimeout: limits.headersTimeoutMs }, listener);
  server.timeout = limits.unreadTimeoutMs; // in which nothing comes and nothing goes
  server.on("timeout", (socket) => {
    const isWorkedOn = openExchanges(socket).length > 0 && socket.writableLength === 0;
    if (!isWorkedOn) socket.destroy(); // idle between two requests, or its client does not read
  });
  return server.on("checkContinue", listener).on("checkExpectation", listener);
}
