import { ServiceError } from "../../errors.ts";

/** The share of one request's body in the memory for bodies. */
export interface Reservation {
  /**
   * Call when more of the body has arrived, or when a complete body grows by decoding.
   *
   * @throws ServiceError QUEUE_FULL if dropping unfinished bodies does not free enough memory. The reservation is then released
   */
  grow(bytes: number): void;
  /** Call when the body is complete. It can then no longer be dropped. */
  complete(): void;
  /** Call when the request has been answered. Further calls have no effect. */
  release(): void;
}

interface Entry {
  bytes: number;
  isWhole: boolean;
  /** Drops the body: its reader throws `reason`. */
  giveWay: (reason: ServiceError) => void;
}

/**
 * Limits the total bytes of all bodies in progress. A body counts from its first byte until its request is answered. Without a
 * limit, a thousand bodies of 2 MiB could take 2 GiB, because bodies are read before their requests have a place in the queue.
 *
 * If the limit is exceeded, the unfinished body that has been silent for longest is dropped, so that clients that never finish
 * a body do not block others.
 */
export class BodyBudget {
  readonly #most: number;
  #bytes = 0;
  /** Total bytes of unfinished bodies. */
  #unfinishedBytes = 0;
  /** Unfinished bodies; the one that has been silent for longest comes first. */
  readonly #unfinished = new Set<Entry>();
  /** Bodies of which no byte has arrived yet. */
  readonly #expected = new Set<Entry>();
  #closedFor: ServiceError | undefined;

  /** @param most limit in bytes; at least the maximum size of one body */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * @param giveWay called when the body is dropped, to make room or by `close`. The reservation is then already released
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
        entry.giveWay = () => {}; // releases the reader, and the body with it
      },
      release: () => this.#release(entry),
    };
  }

  /** Drops all unfinished bodies and refuses new ones. */
  close(reason: ServiceError): void {
    this.#closedFor = reason;
    for (const entry of [...this.#unfinished, ...this.#expected]) this.#giveWay(entry, reason);
  }

  #grow(entry: Entry, bytes: number): void {
    this.#forget(entry);
    const excess = this.#bytes + bytes - this.#most;
    if (excess > this.#unfinishedBytes) {
      this.#release(entry); // dropping all other unfinished bodies would not be enough, so none is dropped
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
    this.#unfinished.add(entry); // moves it to the end
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
  return new ServiceError("QUEUE_FULL", "The memory for request bodies is full.");
}
