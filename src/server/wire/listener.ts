import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";

/** Limits of connections. None of them ends a request that is being processed. */
export interface WireLimits {
  /** Maximum number of open connections. */
  readonly maxConnections: number;
  /** Maximum time from the first byte to the end of the headers. */
  readonly headersTimeoutMs: number;
  /**
   * Maximum time from the first byte to the end of a body that is discarded, because its request has been answered. Bodies that
   * are read must end before the request's deadline.
   */
  readonly requestTimeoutMs: number;
  /** Maximum idle time between two requests. */
  readonly keepAliveTimeoutMs: number;
  /** Maximum time without progress while a client reads a response. */
  readonly unreadTimeoutMs: number;
  /** Interval between checks of the timeouts for headers and bodies. */
  readonly checkIntervalMs: number;
  /** Maximum size of request line and headers together. */
  readonly maxHeaderBytes: number;
}

/** A certificate chain and its private key, in PEM. */
export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Maximum delay of a check of the timeouts. */
const TIMEOUT_SLACK_MS = 5_000;

/** The limits that operators can set. */
export type ChosenWireLimits = Pick<WireLimits, "maxConnections" | "headersTimeoutMs">;

/**
 * The limits for a service. Idle connections stay open for more than the 60 s that load balancers commonly use, so that the load
 * balancer closes them first, and no request is sent on a connection that the service is closing.
 *
 * @param deadlineMs deadline of requests. No other limit ends a request before it
 */
export function wireLimits(chosen: ChosenWireLimits, deadlineMs: number): WireLimits {
  const requestTimeoutMs = chosen.headersTimeoutMs + deadlineMs + TIMEOUT_SLACK_MS;
  return { ...FIXED_LIMITS, ...chosen, requestTimeoutMs };
}

/** Limits that operators cannot set. Chosen. */
const FIXED_LIMITS = {
  keepAliveTimeoutMs: 75_000,
  unreadTimeoutMs: 60_000,
  checkIntervalMs: 1_000,
  maxHeaderBytes: 16 * 1024,
};

/**
 * Creates the HTTP server of Node.js without its automatic responses: requests without Host and with Expect reach the
 * application. There is no `upgrade` listener, so that Node.js ignores `Upgrade: h2c`, as HTTP allows.
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
  server.timeout = limits.unreadTimeoutMs; // time without any traffic; `Connections` decides what then happens
  return server.on("checkContinue", listener).on("checkExpectation", listener);
}

/** Descriptors of the service besides its connections. Chosen: above those of a service and of the process that it may restart. */
const OTHERS = 100;

/** Maximum number of open files of this process; infinite where the system does not tell it. */
export function mostOpenFiles(): number {
  try {
    return limitOf(readFileSync("/proc/self/limits", "utf8"));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** @param text content of /proc/self/limits */
export function limitOf(text: string): number {
  const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

/** The connections that fit into so many open files. Half of them, since as many may be refused and closing at the same time. */
export function connectionsWithin(openFiles: number): number {
  return Math.max(1, Math.floor((openFiles - OTHERS) / 2));
}
