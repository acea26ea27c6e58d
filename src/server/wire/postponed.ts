/** How long a piece of work waits while each turn brings a connection, in milliseconds. Chosen. */
const LONGEST_WAIT_MS = 300;
/** How much of one turn such work may take, in milliseconds, apart from its first piece. Chosen. */
const SHARE_OF_TURN_MS = 2;

/**
 * Work that may wait while new connections come in: the responses of a full queue. Node.js accepts a few connections in a turn
 * of the event loop (`listener-copies.ts`). Short turns accept a burst of connections quickly, so that a health check among
 * them is answered early.
 */
export class Postponed {
  readonly #waiting: { readonly act: () => void; readonly at: number }[] = [];
  #hasAccepted = false;

  /** To be called with each new connection. */
  noteConnection(): void {
    this.#hasAccepted = true;
  }

  /** Calls `act` in a later turn. First come, first served. */
  add(act: () => void): void {
    if (this.#waiting.push({ act, at: performance.now() }) === 1) setImmediate(this.#next);
  }

  readonly #next = (): void => {
    const startedAt = performance.now();
    const isAccepting = this.#hasAccepted;
    this.#hasAccepted = false;
    let done = 0;
    for (const { act, at } of this.#waiting) {
      const now = performance.now();
      if (isAccepting && now - at < LONGEST_WAIT_MS) break;
      if (done > 0 && now - startedAt > SHARE_OF_TURN_MS) break;
      done += 1;
      act();
    }
    this.#waiting.splice(0, done);
    if (this.#waiting.length > 0) setImmediate(this.#next);
  };
}
