import { randomUUID } from "node:crypto";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Contract, OutgoingReply } from "../../contract/call.ts";
import { ServiceError } from "../../errors.ts";
import type { Log } from "../log.ts";
import type { RequestListener } from "../request-record.ts";
import type { Connections } from "./connections.ts";
import type { WireLimits } from "./listener.ts";
import type { WireFailure } from "./messages.ts";

const TUNNEL_REFUSED: WireFailure = {
  kind: "METHOD_NOT_ALLOWED",
  detail: "Expected GET, HEAD or POST, got CONNECT; this is not a proxy.",
};
const MALFORMED: WireFailure = {
  kind: "MALFORMED_HTTP",
  detail: "Expected a request in HTTP/1.1, got something else.",
};

const NO_CONNECTION: WireFailure = { kind: "TOO_MANY_CONNECTIONS", detail: "Too many connections are open." };

/** Failures by the code of Node.js' error: https://nodejs.org/api/http.html#event-clienterror */
function failuresByCode({
  headersTimeoutMs,
  maxHeaderBytes,
}: WireLimits): Readonly<Record<string, WireFailure>> {
  return {
    ERR_HTTP_REQUEST_TIMEOUT: {
      kind: "HEADERS_TIMEOUT",
      detail: `Expected all headers within ${headersTimeoutMs / 1000} s, got only a part of them.`,
    },
    HPE_HEADER_OVERFLOW: {
      kind: "HEADERS_TOO_LARGE",
      detail: `Expected at most ${maxHeaderBytes} bytes of request line and headers, got more.`,
    },
    HPE_CHUNK_EXTENSIONS_OVERFLOW: {
      kind: "BODY_TOO_LARGE",
      detail: "Expected a body with short chunk extensions, got long ones.",
    },
  };
}

/** The contract's response to a violation of HTTP. */
export function wireReply(contract: Contract, failure: WireFailure, requestId: string): OutgoingReply {
  const reply = contract.errorReply(new ServiceError(failure.kind, failure.detail), requestId);
  return failure.status === undefined ? reply : { ...reply, status: failure.status };
}

/** What an answer on a bare socket needs. */
interface WireParts {
  readonly contract: Contract;
  readonly connections: Connections;
}

export interface ClientErrorOptions extends WireParts {
  readonly log: Log;
  readonly limits: WireLimits;
  readonly onRequestEnd: RequestListener;
}

/** Answers input that is not a complete request: a broken request line or header, a truncated body, a timeout. */
export function onClientError(
  options: ClientErrorOptions,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  const { connections, log, limits, onRequestEnd } = options;
  const byCode = failuresByCode(limits);
  return (error, socket) => {
    if (connections.isLingering(socket)) return;
    if (!socket.writable || connections.isDiscardingBody(socket)) {
      socket.destroy(); // the client does not read, or the failed request has been answered already
      return;
    }
    const failure = byCode[error.code ?? ""] ?? MALFORMED;
    void refuse(options, socket, failure).then((sent) => {
      if (sent === undefined) return;
      log.debug({ kind: failure.kind, code: error.code, ...sent }, "request refused");
      onRequestEnd({ method: undefined, operation: undefined, code: failure.kind, ms: 0, ...sent });
    });
  };
}

/** Answers CONNECT, for which Node.js passes the bare socket. */
export function onConnect(parts: WireParts): (request: IncomingMessage, socket: Socket) => void {
  return (_request, socket) => {
    socket.on("error", () => socket.destroy()); // Node.js has removed its own listener, and earlier responses may still take long
    void refuse(parts, socket, TUNNEL_REFUSED, { allow: "GET, HEAD, POST" });
  };
}

/** Answers a connection above the limit, from which nothing has been read. */
export function onTooManyConnections(parts: WireParts): (socket: Socket) => void {
  return (socket) => void refuse(parts, socket, NO_CONNECTION);
}

const refused = new WeakSet<Socket>();

/**
 * Writes the last response on a connection directly to the socket, after the responses to earlier complete requests.
 *
 * @returns what was sent; undefined if nothing was sent
 */
async function refuse(
  { contract, connections }: WireParts,
  socket: Socket,
  failure: WireFailure,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly requestId: string } | undefined> {
  if (refused.has(socket)) return undefined; // the parser reports the error again for each further chunk
  refused.add(socket);
  const open = connections.exchanges(socket);
  const broken = open.find(({ request }) => !request.complete);
  await Promise.all(open.filter((exchange) => exchange !== broken).map(({ response }) => closed(response)));
  if (broken?.response.headersSent || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const requestId = broken?.requestId ?? randomUUID();
  const reply = wireReply(contract, failure, requestId);
  socket.write(rawAnswer(reply, { ...headers, "x-request-id": requestId }));
  connections.linger(socket);
  return { status: reply.status, requestId };
}

function closed(emitter: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve) => emitter.once("close", resolve));
}

function rawAnswer(reply: OutgoingReply, headers: Readonly<Record<string, string>>): string {
  const fields = {
    ...reply.headers,
    ...headers,
    date: new Date().toUTCString(),
    connection: "close",
    "content-length": String(Buffer.byteLength(reply.body)),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ""}\r\n${lines.join("")}\r\n${reply.body}`;
}
