import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Bounds the connections that are open: further ones are told so and closed. As many as that may be on their way out, each for
 * a few seconds; beyond, a connection is cut off at once.
 *
 * @param refuse answers a connection on which nothing has been read, and closes it
 */
export function limitConnections(server: Server, most: number, refuse: (socket: Socket) => void): void {
  const accepted = new Set<Socket>();
  const refused = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    const sockets = accepted.size < most ? accepted : refused;
    if (refused.size >= most && sockets === refused) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    if (sockets === refused) refuse(socket);
  });
}
