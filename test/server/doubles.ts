import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Contract, IncomingCall, OutgoingReply, Route } from "../../src/contract/call.ts";
import { type ErrorKind, ServiceError } from "../../src/errors.ts";
import { systemClock } from "../../src/inference/clock.ts";
import type { Log } from "../../src/server/log.ts";
import type { Admission } from "../../src/server/routes/operations.ts";
import { createServer, type ServerLimits, type ServerOptions } from "../../src/server/server.ts";
import { sentBytes } from "../support/sent-bytes.ts";

const STATUSES: Partial<Record<ErrorKind, number>> = {
  MALFORMED_HTTP: 400,
  HEADERS_TIMEOUT: 408,
  HEADERS_TOO_LARGE: 431,
  EXPECTATION_FAILED: 417,
  CONDITION_FAILED: 412,
  TOO_MANY_CONNECTIONS: 503,
  HOST_NOT_ALLOWED: 403,
  ORIGIN_NOT_ALLOWED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  KEY_MISSING: 401,
  UNAUTHORIZED: 401,
  BODY_TOO_LARGE: 413,
  INVALID_REQUEST: 422,
  QUEUE_FULL: 503,
  DRAINING: 503,
  DEADLINE_EXCEEDED: 504,
};

const ROUTES: readonly Route[] = [
  { method: "POST", path: "/v1/systemone", operationId: "systemone", hasBody: true, needsKey: true },
  { method: "GET", path: "/health", operationId: "getHealth", hasBody: false, needsKey: false },
  { method: "GET", path: "/openapi.json", operationId: "getOpenapi", hasBody: false, needsKey: false },
  {
    method: "GET",
    path: "/openapi.typed.json",
    operationId: "getTypedOpenapi",
    hasBody: false,
    needsKey: false,
  },
  { method: "GET", path: "/docs", operationId: "getDocs", hasBody: false, needsKey: false },
  { method: "GET", path: "/redoc", operationId: "getRedoc", hasBody: false, needsKey: false },
];

const DOCUMENT = {
  openapi: "3.0.3",
  info: { title: "Fake", version: "1" },
  paths: { "/health": { get: { operationId: "getHealth", responses: { "200": { description: "Fine" } } } } },
};

/** A contract that answers how many bytes came, and refuses any media type but JSON. */
export function fakeContract(call: (call: IncomingCall) => Promise<OutgoingReply> = echo): Contract {
  return {
    document: DOCUMENT,
    routes: ROUTES,
    checkMediaType(headers) {
      if (String(headers["content-type"]) === "application/json") return;
      const issue = { loc: ["body"], msg: "expected JSON", type: "media_type" } as const;
      throw new ServiceError("INVALID_REQUEST", issue.msg, { issues: [issue] });
    },
    call,
    answer: call,
    errorReply(error) {
      const kind = error instanceof ServiceError ? error.kind : "INTERNAL";
      const detail =
        error instanceof ServiceError
          ? kind === "INVALID_REQUEST"
            ? error.issues
            : error.message
          : "failed";
      const status = STATUSES[kind] ?? 500;
      const reply = withCode(kind, status === 503 ? busy({ detail }) : json(status, { detail }));
      if (status === 500) return { ...withCode(kind, json(500, { detail: "failed" })), cause: error };
      if (status !== 401) return reply;
      return { ...reply, headers: { ...reply.headers, "www-authenticate": "Bearer" } };
    },
  };
}

function withCode(kind: ErrorKind, reply: OutgoingReply): OutgoingReply {
  return { ...reply, headers: { ...reply.headers, "x-decision-error": kind } };
}

function busy(body: unknown): OutgoingReply {
  const reply = json(503, body);
  return { ...reply, headers: { ...reply.headers, "retry-after": "1" } };
}

export function json(status: number, body: unknown): OutgoingReply {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

async function echo(call: IncomingCall): Promise<OutgoingReply> {
  return json(200, { operation: call.operationId, bytes: sentBytes(call).byteLength });
}

export type LogEntry = { level: keyof Log; fields: Readonly<Record<string, unknown>>; message: string };

/** A log that keeps its entries. */
export function memoryLog(): Log & { readonly entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const at = (level: LogEntry["level"]) => (fields: Readonly<Record<string, unknown>>, message: string) => {
    entries.push({ level, fields, message });
  };
  return { entries, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

export const KEY = "s3cret";
export const MAX_BODY_BYTES = 2_097_152;

export const LIMITS: ServerLimits = {
  maxBodyBytes: MAX_BODY_BYTES,
  bodyMemoryBytes: 100 * MAX_BODY_BYTES,
  deadlineMs: 60_000,
  maxConnections: 1000,
  headersTimeoutMs: 20_000,
};

/** There is always a place in the queue. */
export const OPEN: Admission = {
  isFull: () => false,
  countEarly: () => {},
};

/** A server over the fake contract, with the key set; not listening. */
export function fakeServer(options: Partial<ServerOptions> = {}): Promise<FastifyInstance> {
  return createServer({
    contract: fakeContract(),
    version: "1.2.3",
    apiKey: KEY,
    log: memoryLog(),
    clock: systemClock,
    limits: LIMITS,
    admission: OPEN,
    ...options,
  });
}

/** Listens on a free loopback port, runs, and closes whatever is still open. */
export async function withServer(app: FastifyInstance, run: (port: number) => Promise<void>): Promise<void> {
  await app.listen({ host: "127.0.0.1", port: 0 });
  try {
    await run((app.server.address() as AddressInfo).port); // a TCP listener's address is an AddressInfo
  } finally {
    app.server.closeAllConnections();
    await app.close();
  }
}
