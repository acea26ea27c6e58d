import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../inference/ports.ts";

interface Idle {
  readonly since: number;
  /** Of the connection until then: where more have come, a request is on its way. */
  readonly bytesRead: number;
}

/** The connections of a server on which no request is unanswered, those that have been idle for longest first. */
export class IdleConnections {
  readonly #clock: Clock;
  readonly #idle = new Map<Socket, Idle>();
  /** Requests that have not come whole, or have no whole answer, by connection. */
  readonly #unanswered = new WeakMap<Socket, number>();
  #isClosing = false;

  constructor(server: Server, clock: Clock) {
    this.#clock = clock;
    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      this.#count(socket, 1);
      const onEnd = () => this.#count(socket, -1);
      response.once("close", () => {
        // a body that nobody wants is still discarded after an early answer
        if (request.complete) onEnd();
        else request.once("end", onEnd);
      });
    };
    for (const event of ["request", "checkContinue", "checkExpectation"]) server.on(event, onRequest);
  }

  /** To be called with each new connection that may have requests. */
  add(socket: Socket): void {
    this.#unanswered.set(socket, 0);
    this.#note(socket);
    socket.once("close", () => this.#idle.delete(socket));
  }

  /** Closes the connection that has been idle for longest. @returns it; undefined where none has been for that long */
  closeOldest(leastMs: number): Socket | undefined {
    for (const [socket, { since }] of this.#idle) {
      if (this.#clock.now() - since < leastMs) return undefined;
      if (!this.#endIdle(socket)) continue;
      socket.destroy();
      return socket;
    }
    return undefined;
  }

  /**
   * Closes all of them, and from now on each that becomes idle. What Node does itself also takes connections whose last answer is not
   * written out yet.
   */
  closeAll(): void {
    this.#isClosing = true;
    for (const socket of this.#idle.keys()) this.#closeSoon(socket);
  }

  #closeSoon(socket: Socket): void {
    if (this.#endIdle(socket)) socket.destroySoon();
  }

  /** Whether it was idle. If not, it is none of them until its next answer: its headers have a time of their own. */
  #endIdle(socket: Socket): boolean {
    const idle = this.#idle.get(socket);
    this.#idle.delete(socket);
    return idle?.bytesRead === socket.bytesRead;
  }

  #count(socket: Socket, change: 1 | -1): void {
    const before = this.#unanswered.get(socket);
    if (before === undefined) return; // refused
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
