import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { declaredBodyBytes } from "./headers.ts";

// chosen: an unread body of at most this size is discarded after the response, and the connection stays open
const DRAINED_BYTES = 8 * 1024 * 1024;
// chosen: enough for clients that write a whole refused upload before they read; nginx uses the same 5 s and 30 s
const LINGER_BYTES = 64 * 1024 * 1024;
const LINGER_IDLE_MS = 5_000;
const LINGER_TOTAL_MS = 30_000;
const LINGER_CHECK_MS = 100;

const lingered = new WeakSet<Socket>();
/** The lingering connections and their limits. */
const open = new Map<Socket, { readonly mostBytesRead: number; readonly endAt: number }>();
let watch: NodeJS.Timeout | undefined;

/** Whether bytes of the body may still arrive. (`complete` alone does not tell: it is also false for a request without a body while it is dispatched.) */
export function hasUnreadBody(request: IncomingMessage): boolean {
  return !request.complete && declaredBodyBytes(request) > 0;
}

/** Whether the rest of the body is known to be small. Then it is discarded and the connection kept. */
export function isWorthDraining(request: IncomingMessage): boolean {
  return declaredBodyBytes(request) <= DRAINED_BYTES;
}

/**
 * Call before answering a request whose body has not been read. If its response is the last one on the connection, the rest of
 * the body is discarded before the connection is closed.
 *
 * Node.js calls `destroySoon` once the last response is written. Bytes that arrive at a destroyed socket cause a TCP reset, by
 * which a client that writes everything before it reads (Python's httpx) would lose the response.
 */
export function lingerBeforeClosing(request: IncomingMessage): void {
  const { socket } = request;
  socket.destroySoon = () => {
    if (request.complete) Socket.prototype.destroySoon.call(socket);
    else closeLingering(socket);
  };
}

/**
 * Half-closes the connection, then reads and discards data for a while before closing it (a lingering close).
 *
 * Incoming bytes go to Node.js' parser, which drops them. They are counted by `bytesRead`: a `data` listener would take the
 * socket away from the parser, and a socket that the parser had paused would never be read again (Node 20).
 */
export function closeLingering(socket: Socket): void {
  if (lingered.has(socket)) return;
  lingered.add(socket);
  if (socket.destroyed) return;
  open.set(socket, {
    mostBytesRead: socket.bytesRead + LINGER_BYTES,
    endAt: performance.now() + LINGER_TOTAL_MS,
  });
  watch ??= setInterval(endLongest, LINGER_CHECK_MS).unref();
  const destroy = (): void => {
    socket.destroy();
  };
  socket
    .on("error", destroy)
    .once("end", destroy)
    .once("close", () => forget(socket))
    .setTimeout(LINGER_IDLE_MS, destroy)
    .resume();
  socket.end();
}

/** Ends lingering connections. One timer for all, because there may be thousands. */
function endLongest(): void {
  const now = performance.now();
  for (const [socket, { mostBytesRead, endAt }] of open) {
    if (socket.bytesRead > mostBytesRead || now > endAt) socket.destroy();
  }
}

function forget(socket: Socket): void {
  open.delete(socket);
  if (open.size > 0) return;
  clearInterval(watch);
  watch = undefined;
}

/** Whether the last response on this connection has been written and incoming data is discarded. */
export function isLingering(socket: Socket): boolean {
  return lingered.has(socket);
}
