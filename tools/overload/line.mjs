// A connection that sends prepared bytes and reads answers. It needs less processor time than an HTTP client, so that
// two processors can generate ten times the load.
import { connect } from "node:net";

/** A connection with at most one request in progress. */
export class Line {
  /** Called with `{ status, headers }`, or with `{ fault: "reset" | "lost" | "connect" }` if there is no answer. */
  onOutcome = () => {};
  /** Called once, when the connection has ended. */
  onEnd = () => {};
  #socket;
  #received = "";
  #isWaiting = false;
  #isConnected = false;
  #fault = "lost";

  constructor(port) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket
      .setEncoding("latin1")
      .on("connect", () => {
        this.#isConnected = true;
      })
      .on("data", (text) => this.#read(text))
      .on("error", ({ code }) => {
        this.#fault = this.#isConnected ? `reset (${code})` : `no connection (${code})`;
      })
      .on("close", () => {
        if (this.#isWaiting) this.#finish({ fault: this.#fault });
        else if (this.#fault !== "lost") this.onOutcome({ fault: `after the answer: ${this.#fault}` });
        this.onEnd();
      });
  }

  /** Whether another request may be sent: the answer has arrived and all bytes have been written. */
  get isFree() {
    return !this.#isWaiting && this.#socket.writable && this.#socket.writableLength === 0;
  }

  send(parts) {
    this.#isWaiting = true;
    this.#socket.cork();
    for (const part of parts) if (part.length > 0) this.#socket.write(part, "latin1");
    this.#socket.uncork();
  }

  close() {
    this.#socket.destroy();
  }

  #read(text) {
    this.#received += text;
    const split = this.#received.indexOf("\r\n\r\n");
    if (split < 0) return;
    const headers = this.#received.slice(0, split).toLowerCase();
    const length = Number(/\r\ncontent-length: (\d+)/.exec(headers)?.[1] ?? 0);
    if (this.#received.length < split + 4 + length) return;
    this.#received = this.#received.slice(split + 4 + length);
    const status = Number(headers.slice(9, 12));
    if (this.#isWaiting) this.#finish({ status, headers });
    else this.onOutcome({ fault: `an unexpected answer (${status})` });
  }

  #finish(outcome) {
    this.#isWaiting = false;
    this.onOutcome(outcome);
  }
}
