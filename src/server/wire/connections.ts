import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Server as TlsServer } from "node:tls";
import { declaredBodyBytes, requestIdOf } from "./messages.ts";

// chosen: an unread body of at most this size is discarded after the response, and the connection stays open
const DISCARDED_BYTES = 8 * 1024 * 1024;
// chosen: enough for clients that write a whole refused upload before they read; nginx uses the same 5 s and 30 s
const LINGER_IDLE_MS = 5_000;
const LINGER_TOTAL_MS = 30_000;

/** A request whose response is not completely written. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  #gone: AbortController | undefined; // created where it is used: refusals under overload need none
  #isGone = false;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
    this.requestId = requestIdOf(request);
  }

  /** Aborted when the connection closes before the response is written. */
  get signal(): AbortSignal {
    this.#gone ??= new AbortController();
    if (this.#isGone) this.#gone.abort();
    return this.#gone.signal;
  }

  /** The connection has closed before the response was written. */
  abort(): void {
    this.#isGone = true;
    this.#gone?.abort();
  }
}

interface Connection {
  /** Oldest first. There may be several, because clients may pipeline requests. */
  readonly open: Set<Exchange>;
  latest: IncomingMessage | undefined;
  /** Bytes read when it last became idle. If there are more now, a request is arriving. */
  idleAtBytes: number;
}

/** The open connections of a server, and the unanswered requests on each. */
export class Connections {
  /** Without those above the limit, which are only refused. With a WeakMap, refusals take 7 to 9 % more processor time. */
  readonly #connections = new Map<Socket, Connection>();
  readonly #lingering = new WeakSet<Socket>();
  #isClosing = false;

  /**
   * Limits the connections of a server, and closes those that are idle when the server closes.
   *
   * @param refuse answers a connection above the limit, from which nothing has been read, and closes it
   */
  watch(server: Server, most: number, refuse: (socket: Socket) => void): Server {
    // before the TLS handshake no HTTP response can be sent. Otherwise, as many as allowed may be refused at a time
    const isEncrypted = server instanceof TlsServer;
    server.maxConnections = isEncrypted ? most : 2 * most;
    server.on(isEncrypted ? "secureConnection" : "connection", (socket: Socket) => {
      if (!isEncrypted && this.#connections.size >= most) refuse(socket);
      else this.#of(socket);
    });
    server.on("timeout", (socket: Socket) => {
      const isWorkedOn = this.exchanges(socket).length > 0 && socket.writableLength === 0;
      if (!isWorkedOn) socket.destroy(); // idle, or its client does not read
    });
    // Node.js calls it when the listener closes. Its own also closes connections whose last response is still being written
    server.closeIdleConnections = () => {
      this.#isClosing = true;
      for (const [socket, connection] of this.#connections) closeIfIdle(socket, connection);
    };
    return server;
  }

  /**
   * Tracks a request until its response is written.
   *
   * @returns undefined for a request after one whose response closes the connection: it gets none
   */
  open(request: IncomingMessage, response: ServerResponse): Exchange | undefined {
    const { socket } = request;
    if (this.isLingering(socket)) return undefined;
    const connection = this.#of(socket);
    const exchange = new Exchange(request, response);
    connection.open.add(exchange);
    connection.latest = request;
    const onEnd = () => {
      connection.idleAtBytes = socket.bytesRead;
      if (this.#isClosing) closeIfIdle(socket, connection);
    };
    response.once("close", () => {
      connection.open.delete(exchange);
      if (!response.writableFinished) exchange.abort();
      // after an early response, the rest of the body must still be discarded
      if (request.complete) onEnd();
      else request.once("end", onEnd);
    });
    return exchange;
  }

  /** The unanswered requests of a connection, oldest first. */
  exchanges(socket: Socket): readonly Exchange[] {
    return [...(this.#connections.get(socket)?.open ?? [])];
  }

  /** The exchange of a request; undefined for one that is not tracked, such as those of the metrics port. */
  exchangeOf(request: IncomingMessage): Exchange | undefined {
    for (const exchange of this.#connections.get(request.socket)?.open ?? [])
      if (exchange.request === request) return exchange;
    return undefined;
  }

  /** Whether the latest request has been answered while its body is still arriving. */
  isDiscardingBody(socket: Socket): boolean {
    const { latest, open } = this.#connections.get(socket) ?? {};
    return latest?.complete === false && open?.size === 0;
  }

  /** Whether the last response on this connection has been written and incoming data is discarded. */
  isLingering(socket: Socket): boolean {
    return this.#lingering.has(socket);
  }

  /**
   * Whether a response closes its connection. Call before it is written. If the request's body has not been read and this
   * response is the last one on the connection, the rest of the body is discarded before the connection is closed.
   *
   * Node.js calls `destroySoon` once the last response is written. Bytes that arrive at a destroyed socket cause a TCP reset,
   * by which a client that writes everything before it reads (Python's httpx) would lose the response.
   */
  closesAfter(request: IncomingMessage, isDraining: boolean): boolean {
    const { socket } = request;
    const bodyBytes = declaredBodyBytes(request);
    // `complete` alone does not tell: it is also false for a request without a body while it is dispatched
    const isUnread = !request.complete && bodyBytes > 0;
    if (isUnread)
      socket.destroySoon = () => {
        if (request.complete) Socket.prototype.destroySoon.call(socket);
        else this.linger(socket);
      };
    return isDraining || (isUnread && bodyBytes > DISCARDED_BYTES);
  }

  /**
   * Half-closes the connection, then reads and discards data for a while before closing it (a lingering close).
   *
   * Incoming bytes go to Node.js' parser, which drops them: a `data` listener would take the socket away from the parser,
   * and a socket that the parser had paused would never be read again (Node 20).
   */
  linger(socket: Socket): void {
    if (this.#lingering.has(socket)) return;
    this.#lingering.add(socket);
    if (socket.destroyed) return;
    const destroy = () => void socket.destroy();
    const limit = setTimeout(destroy, LINGER_TOTAL_MS).unref();
    socket
      .on("error", destroy)
      .once("end", destroy)
      .once("close", () => clearTimeout(limit))
      .setTimeout(LINGER_IDLE_MS, destroy)
      .resume();
    socket.end();
  }

  #of(socket: Socket): Connection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const connection: Connection = { open: new Set(), latest: undefined, idleAtBytes: socket.bytesRead };
    if (socket.closed) return connection; // nothing would remove it
    this.#connections.set(socket, connection);
    // one listener for all requests of the connection: Node.js emits no "close" for responses that wait behind another one
    socket.once("close", () => {
      this.#connections.delete(socket);
      for (const exchange of connection.open) exchange.abort();
      connection.open.clear();
    });
    return connection;
  }
}

/** Closes a connection without unanswered requests, once everything is written. */
function closeIfIdle(socket: Socket, { open, latest, idleAtBytes }: Connection): void {
  const isIdle = open.size === 0 && latest?.complete !== false && socket.bytesRead === idleAtBytes;
  if (isIdle) socket.destroySoon();
}
