import { ServiceError } from "../../errors.ts";

/** Bytes of one request's body that count as under way. */
export interface Reservation {
  /** More of the body has come, or a whole one has become longer by decoding. @throws ServiceError QUEUE_FULL; its bytes no longer count then */
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
  /** Silent for longest first. */
  readonly #unfinished = new Set<Entry>();

  /** @param most bytes; at least those of the longest body */
  constructor(most: number) {
    this.#most = most;
  }

  /** @param giveWay told when the body's bytes are needed for others; they no longer count then */
  reserve(giveWay: (reason: ServiceError) => void): Reservation {
    const entry: Entry = { bytes: 0, isWhole: false, giveWay };
    return {
      grow: (bytes) => this.#grow(entry, bytes),
      complete: () => {
        this.#unfinished.delete(entry);
        entry.isWhole = true;
        entry.giveWay = () => {}; // lets go of what has read the body, and of the body with it
      },
      release: () => this.#release(entry),
    };
  }

  #grow(entry: Entry, bytes: number): void {
    this.#unfinished.delete(entry);
    while (this.#bytes + bytes > this.#most) {
      const [silent] = this.#unfinished;
      if (silent === undefined) {
        this.#release(entry);
        throw noRoom();
      }
      this.#release(silent);
      silent.giveWay(noRoom());
    }
    entry.bytes += bytes;
    this.#bytes += bytes;
    if (!entry.isWhole) this.#unfinished.add(entry); // now the one that was heard last
  }

  #release(entry: Entry): void {
    this.#unfinished.delete(entry);
    this.#bytes -= entry.bytes;
    entry.bytes = 0;
  }
}

function noRoom(): ServiceError {
  return new ServiceError("QUEUE_FULL", "Too many bytes of bodies are under way.");
}
