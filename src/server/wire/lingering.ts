import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { declaredBodyBytes } from "./headers.ts";

// Chosen. A body that is announced with no more is read to its end after the answer, and the connection goes on.
const DRAINED_BYTES = 8 * 1024 * 1024;
// Chosen: enough for a client that writes all of a hopeless upload before it reads; nginx waits the same 5 s and 30 s.
const LINGER_BYTES = 64 * 1024 * 1024;
const LINGER_IDLE_MS = 5_000;
const LINGER_TOTAL_MS = 30_000;
const LINGER_CHECK_MS = 100;

const lingered = new WeakSet<Socket>();
/** Those that are open, with what ends them. */
const open = new Map<Socket, { readonly mostBytesRead: number; readonly endAt: number }>();
let watch: NodeJS.Timeout | undefined;

/** Whether bytes of the body may still come. While it is dispatched, a request without a body is not `complete` either. */
export function hasUnreadBody(request: IncomingMessage): boolean {
  return !request.complete && declaredBodyBytes(request) > 0;
}

/** Whether what is left of the body is known to be small: then it is discarded and the connection kept. */
export function isWorthDraining(request: IncomingMessage): boolean {
  return declaredBodyBytes(request) <= DRAINED_BYTES;
}

/**
 * To be called before a request is answered whose body is not read: if that answer is the connection's last, the
 * rest of the body is discarded before the connection goes.
 *
 * Node calls `destroySoon` once the last answer is written. Bytes that arrive after a destroyed socket become a reset,
 * and a reset takes away the answer from a client that first writes all and then reads (Python's httpx).
 */
export function lingerBeforeClosing(request: IncomingMessage): void {
  const { socket } = request;
  socket.destroySoon = () => {
    if (request.complete) Socket.prototype.destroySoon.call(socket);
    else closeLingering(socket);
  };
}

/**
 * Ends our side at once, then reads and discards for a while before it lets go.
 *
 * What arrives goes to Node's parser, which drops it: the bytes are counted from outside, because a `data` listener
 * takes the socket away from the parser, and one that the parser had paused is then never read again (Node 20).
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

/** One timer for all of them: thousands of refused connections may linger. */
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

/** Whether the last answer of this connection is written and what still arrives is discarded. */
export function isLingering(socket: Socket): boolean {
  return lingered.has(socket);
}
