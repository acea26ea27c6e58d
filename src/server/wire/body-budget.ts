import { ServiceError } from "../../errors.ts";

/** Bytes of one request's body that count as under way. */
export interface Reservation {
  /** More of the body has come, or a whole one has become longer by decoding. @throws ServiceError QUEUE_FULL where others giving way is not enough; its bytes no longer count then */
  grow(bytes: number): void;
  /** The body is whole: it gives way to no other. */
  complete(): void;
  /** The request is answered. May be called again. */
  release(): void;
}

interface Entry {
  bytes: number;
  isWhole: boolean;
  /** Ends the reading, which then throws. */
  giveWay: (reason: ServiceError) => void;
}

/**
 * Bounds the bytes of all bodies under way, from the first byte that comes to the answer: bodies are read before there is a place in
 * the queue, and a thousand of 2 MiB would be 2 GiB.
 *
 * Where they would be too many, the unfinished body that has been silent for longest gives way: who sends a body and never
 * ends it must not keep others out.
 */
export class BodyBudget {
  readonly #most: number;
  #bytes = 0;
  /** Of those that could give way. */
  #unfinishedBytes = 0;
  /** Silent for longest first. */
  readonly #unfinished = new Set<Entry>();
  /** Bodies of which nothing has come yet. */
  readonly #expected = new Set<Entry>();
  #closedFor: ServiceError | undefined;

  /** @param most bytes; at least those of the longest body */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * @param giveWay told when the body's bytes are needed for others, and by `close`; they no longer count then
   * @throws ServiceError the reason that `close` was given
   */
  reserve(giveWay: (reason: ServiceError) => void): Reservation {
    if (this.#closedFor !== undefined) throw this.#closedFor;
    const entry: Entry = { bytes: 0, isWhole: false, giveWay };
    this.#expected.add(entry);
    return {
      grow: (bytes) => this.#grow(entry, bytes),
      complete: () => {
        this.#forget(entry);
        entry.isWhole = true;
        entry.giveWay = () => {}; // lets go of what has read the body, and of the body with it
      },
      release: () => this.#release(entry),
    };
  }

  /** Every body that is not whole gives way, and no other is let in. */
  close(reason: ServiceError): void {
    this.#closedFor = reason;
    for (const entry of [...this.#unfinished, ...this.#expected]) this.#giveWay(entry, reason);
  }

  #grow(entry: Entry, bytes: number): void {
    this.#forget(entry);
    const excess = this.#bytes + bytes - this.#most;
    if (excess > this.#unfinishedBytes) {
      this.#release(entry); // there would be no room even if all others gave way: they need not
      throw noRoom();
    }
    while (this.#bytes + bytes > this.#most) {
      const [silent] = this.#unfinished;
      if (silent === undefined) break;
      this.#giveWay(silent, noRoom());
    }
    entry.bytes += bytes;
    this.#bytes += bytes;
    if (entry.isWhole) return;
    this.#unfinished.add(entry); // now the one that was heard last
    this.#unfinishedBytes += entry.bytes;
  }

  #giveWay(entry: Entry, reason: ServiceError): void {
    this.#release(entry);
    entry.giveWay(reason);
  }

  #release(entry: Entry): void {
    this.#forget(entry);
    this.#bytes -= entry.bytes;
    entry.bytes = 0;
  }

  #forget(entry: Entry): void {
    this.#expected.delete(entry);
    if (this.#unfinished.delete(entry)) this.#unfinishedBytes -= entry.bytes;
  }
}

function noRoom(): ServiceError {
  return new ServiceError("QUEUE_FULL", "Too many bytes of bodies are under way.");
}
