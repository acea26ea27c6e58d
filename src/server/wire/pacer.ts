/** Turns of the event loop after each request. Chosen. */
const LEAST_TURNS = 3;
/** While each turn brings a connection, the next request waits for at most this long, in milliseconds. Chosen. */
const LONGEST_WAIT_MS = 6;
/** The same while the model has work for so long that it does not need the next request yet. Chosen. */
const LONGEST_WAIT_IF_SUPPLIED_MS = 40;
const SUPPLIED_MS = 200;
/** Requests that are only to be refused pass in groups. Chosen. */
const REFUSED_AT_ONCE = 8;

/** The queue that the requests go to. */
export interface PacedQueue {
  /** Why requests that wait here are only to be refused. Undefined: there is a place. */
  fullQueue(): unknown;
  /** Whether the model has work for at least so long. */
  hasWorkFor(ms: number): boolean;
}

/**
 * Spaces out the requests whose bodies are whole: between two of them the event loop gets some turns. It takes a
 * millisecond or two to parse, validate and tokenize a request, and Node.js accepts a few connections in a turn
 * (`listener-copies.ts`). Without spacing, new connections and health checks wait behind each burst of requests.
 */
export class Pacer {
  readonly #queue: PacedQueue;
  readonly #waiting: (() => void)[] = [];
  #isPacing = false;
  #turns = 0;
  #passedAt = 0;
  #hasAccepted = false;

  constructor(queue: PacedQueue) {
    this.#queue = queue;
  }

  /** Requests that wait here. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** To be called with each new connection. */
  noteConnection(): void {
    this.#hasAccepted = true;
  }

  /** Resolves when the request may be worked on: at once where none was shortly before. First come, first served. */
  turn(): Promise<void> | undefined {
    if (this.#isPacing) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#isPacing = true;
    this.#begin();
    return undefined;
  }

  #begin(): void {
    this.#turns = 0;
    this.#passedAt = performance.now();
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#turns += 1;
    const isAccepting = this.#hasAccepted && this.#mayWait(performance.now() - this.#passedAt);
    this.#hasAccepted = false;
    if (this.#turns < LEAST_TURNS || isAccepting) {
      setImmediate(this.#next);
      return;
    }
    const isFull = this.#queue.fullQueue() !== undefined;
    const passing = this.#waiting.splice(0, isFull ? REFUSED_AT_ONCE : 1);
    this.#isPacing = passing.length > 0;
    if (this.#isPacing) this.#begin();
    for (const pass of passing) pass();
  };

  /** Asks the queue last, because it sums up all its work. */
  #mayWait(waitedMs: number): boolean {
    if (waitedMs < LONGEST_WAIT_MS) return true;
    return waitedMs < LONGEST_WAIT_IF_SUPPLIED_MS && this.#queue.hasWorkFor(SUPPLIED_MS);
  }
}
