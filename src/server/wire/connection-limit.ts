import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { IdleConnections } from "./idle-connections.ts";

/** Chosen: a client that asks again and again is heard sooner, and loses no request to a connection that is just being closed. */
const LEAST_IDLE_MS = 1_000;

/**
 * Bounds the connections that are open. For a further one, the one that has been idle for longest is closed; one with a request under
 * way never is. Where there is none that is idle, the new one is told so and closed. As many as that may be on their way out, each
 * for a few seconds; beyond, a connection is cut off at once.
 *
 * @param idle   of the same server
 * @param refuse answers a connection on which nothing has been read, and closes it
 */
export function limitConnections(
  server: Server,
  most: number,
  idle: IdleConnections,
  refuse: (socket: Socket) => void,
): void {
  const accepted = new Set<Socket>();
  const refused = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    if (accepted.size >= most) {
      const closed = idle.closeOldest(LEAST_IDLE_MS);
      if (closed !== undefined) accepted.delete(closed);
    }
    const sockets = accepted.size < most ? accepted : refused;
    if (refused.size >= most && sockets === refused) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    if (sockets === accepted) idle.add(socket);
    else refuse(socket);
  });
}
