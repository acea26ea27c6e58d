import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Server as TlsServer } from "node:tls";
import type { IdleConnections } from "./idle-connections.ts";

/** Minimum idle time of a connection that may be closed. Chosen: clients with frequent requests are never cut off between two of them. */
const LEAST_IDLE_MS = 1_000;

/**
 * Limits the number of open connections. To admit another one, the connection that has been idle for longest is closed.
 * Connections with a request in progress are never closed. If none is idle, the new connection gets an error response and is
 * closed, which may take a few seconds. At most as many connections may be closing in this way; beyond that, new ones are cut
 * off at once.
 *
 * @param idle   the idle connections of the same server
 * @param refuse sends an error on a connection from which nothing has been read, and closes it
 */
export function limitConnections(
  server: Server,
  most: number,
  idle: IdleConnections,
  refuse: (socket: Socket) => void,
): void {
  const isEncrypted = server instanceof TlsServer;
  const accepted = new Set<Socket>();
  const refused = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    const hasRoom = accepted.size < most || idle.closeOldest(LEAST_IDLE_MS);
    const sockets = hasRoom ? accepted : refused;
    if (refused.size >= most && sockets === refused) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    if (sockets === refused) refuse(socket);
    else if (!isEncrypted) idle.add(socket);
  });
  // requests come on the encrypted connection, not on the one below it
  if (isEncrypted) server.on("secureConnection", (socket: Socket) => idle.add(socket));
}
