import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../inference/clock.ts";

interface Idle {
  readonly since: number;
  /** Bytes read from the connection when it became idle. If there are more now, a request is arriving. */
  readonly bytesRead: number;
}

/** The connections of a server without unanswered requests, longest idle first. */
export class IdleConnections {
  readonly #clock: Clock;
  readonly #idle = new Map<Socket, Idle>();
  /** Number of requests per connection that have not arrived or have not been answered completely. */
  readonly #unanswered = new Map<Socket, number>();
  #isClosing = false;

  constructor(server: Server, clock: Clock) {
    this.#clock = clock;
    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      this.#count(socket, 1);
      const onEnd = () => this.#count(socket, -1);
      response.once("close", () => {
        // after an early response, the rest of the body must still be discarded
        if (request.complete) onEnd();
        else request.once("end", onEnd);
      });
    };
    for (const event of ["request", "checkContinue", "checkExpectation"]) server.on(event, onRequest);
  }

  /** Call for each admitted connection. */
  add(socket: Socket): void {
    this.#unanswered.set(socket, 0);
    this.#note(socket);
    socket.once("close", () => {
      this.#idle.delete(socket);
      this.#unanswered.delete(socket);
    });
  }

  /** Closes the longest idle connection. @returns whether one has been idle for `leastMs` */
  closeOldest(leastMs: number): boolean {
    for (const [socket, { since }] of this.#idle) {
      if (this.#clock.now() - since < leastMs) return false;
      if (!this.#endIdle(socket)) continue;
      socket.destroy();
      return true;
    }
    return false;
  }

  /**
   * Closes all idle connections, and from now on each one that becomes idle. Node.js' own method also closes connections whose
   * last response has not been written completely.
   */
  closeAll(): void {
    this.#isClosing = true;
    for (const socket of this.#idle.keys()) this.#closeSoon(socket);
  }

  #closeSoon(socket: Socket): void {
    if (this.#endIdle(socket)) socket.destroySoon();
  }

  /** Removes a connection from the idle ones. @returns whether it was still idle: no byte of a new request has arrived */
  #endIdle(socket: Socket): boolean {
    const idle = this.#idle.get(socket);
    this.#idle.delete(socket);
    return idle?.bytesRead === socket.bytesRead;
  }

  #count(socket: Socket, change: 1 | -1): void {
    const before = this.#unanswered.get(socket);
    if (before === undefined) return; // a refused connection
    const unanswered = before + change;
    this.#unanswered.set(socket, unanswered);
    if (unanswered > 0) this.#idle.delete(socket);
    else this.#note(socket);
  }

  #note(socket: Socket): void {
    if (socket.destroyed) return;
    this.#idle.set(socket, { since: this.#clock.now(), bytesRead: socket.bytesRead });
    if (this.#isClosing) this.#closeSoon(socket);
  }
}
