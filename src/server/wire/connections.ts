import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** A request whose response is not completely written. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Aborted when the connection closes before the response is written. */
  readonly signal: AbortSignal;
}

interface Connection {
  /** Oldest first. There may be several, because clients may pipeline requests. */
  readonly open: Map<Exchange, AbortController>;
  latest: IncomingMessage | undefined;
}

const connections = new WeakMap<Socket, Connection>();
const exchanges = new WeakMap<IncomingMessage, Exchange>();

/** Starts to track a request, until its response is written or the connection closes. */
export function openExchange(request: IncomingMessage, response: ServerResponse, requestId: string): void {
  const connection = connectionOf(request.socket);
  const gone = new AbortController();
  const exchange: Exchange = { request, response, requestId, signal: gone.signal };
  connection.open.set(exchange, gone);
  connection.latest = request;
  exchanges.set(request, exchange);
  response.once("close", () => {
    connection.open.delete(exchange);
    if (!response.writableFinished) gone.abort();
  });
}

/** The exchange of this request, if it has one. */
export function exchangeOf(request: IncomingMessage): Exchange | undefined {
  return exchanges.get(request);
}

/** The unanswered requests of a connection, oldest first. */
export function openExchanges(socket: Socket): Exchange[] {
  return [...connectionOf(socket).open.keys()];
}

/** Whether the latest request has been answered while its body is still arriving. */
export function isDiscardingBody(socket: Socket): boolean {
  const { latest, open } = connectionOf(socket);
  return latest !== undefined && !latest.complete && open.size === 0;
}

function connectionOf(socket: Socket): Connection {
  const known = connections.get(socket);
  if (known !== undefined) return known;
  const connection: Connection = { open: new Map(), latest: undefined };
  connections.set(socket, connection);
  // one listener for all requests of the connection: Node.js emits no "close" for responses that wait behind another one
  socket.once("close", () => {
    for (const gone of connection.open.values()) gone.abort();
    connection.open.clear();
  });
  return connection;
}
