import type { IncomingMessage, ServerResponse } from "node:http";
import { ServiceError } from "../../errors.ts";
import type { Clock } from "../../inference/clock.ts";
import { queueErrors } from "../../inference/queue/ticket.ts";
import { declaredBodyBytes, expectsContinue } from "./messages.ts";

export interface BodyLimits {
  readonly maxBodyBytes: number;
  /** Maximum time from the headers to the end of the body. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly budget: BodyBudget;
}

/** A complete body. */
export interface WholeBody {
  readonly bytes: Uint8Array;
  /** Reserves memory for additional bytes of the decoded body. @throws ServiceError QUEUE_FULL */
  readonly grow: (bytes: number) => void;
  /** Call when the request has been answered. Releases the memory of the body. */
  readonly release: () => void;
}

/**
 * Reads a request's body, and counts its bytes while they arrive.
 *
 * Sends "100 Continue" to callers that wait for it: all checks of the headers have passed. After a refusal, the rest of the body
 * is discarded.
 *
 * @throws ServiceError BODY_TOO_LARGE | QUEUE_FULL (the memory for bodies is full) | DRAINING | DEADLINE_EXCEEDED | CANCELLED if
 *         the connection closes before the end of the body
 */
export async function receiveBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBodyBytes, deadlineMs, clock, budget }: BodyLimits,
): Promise<WholeBody> {
  if (request.destroyed) throw cutOff();
  if (expectsContinue(request)) response.writeContinue();

  return new Promise((resolve, reject) => {
    const body = new BodyBuffer(declaredBodyBytes(request));
    const settle = (finish: () => void): void => {
      cancelTimer();
      request.off("data", onData).off("end", onEnd).off("close", onClose);
      request.resume();
      finish();
    };
    const fail = (reason: unknown): void =>
      settle(() => {
        reservation.release();
        reject(reason);
      });
    const reservation = budget.reserve(fail);
    const onData = (chunk: Buffer): void => {
      try {
        if (body.length + chunk.length > maxBodyBytes) throw tooLarge(maxBodyBytes);
        reservation.grow(chunk.length);
        body.add(chunk);
      } catch (error) {
        fail(error);
      }
    };
    const onEnd = (): void =>
      settle(() => {
        reservation.complete();
        resolve({ bytes: body.whole(), grow: reservation.grow, release: reservation.release });
      });
    const onClose = (): void => fail(cutOff());
    const cancelTimer = clock.after(deadlineMs, () => fail(queueErrors.tooLate()));
    request.on("error", ignoreError);
    request.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}

/** Initial size of the buffer, unless the declared size is smaller. Chosen: most bodies are shorter. */
const FIRST_BYTES = 16_384;

/**
 * Collects the chunks of a body in one buffer as they arrive. Joining them at the end would copy all bodies that end in the same
 * turn of the event loop at once, and hold them in memory twice. The buffer doubles with the bytes received, up to the declared
 * size, so a large Content-Length alone takes no memory.
 */
class BodyBuffer {
  readonly #declared: number;
  #whole: Buffer;
  length = 0;

  /** @param declared bytes according to the headers, infinite if unknown. Node.js passes on no more than that */
  constructor(declared: number) {
    this.#declared = declared;
    this.#whole = Buffer.allocUnsafeSlow(Math.min(declared, FIRST_BYTES));
  }

  /** Copies the chunk: keeping each chunk's buffer would take a hundred times the memory for bodies sent byte by byte. */
  add(chunk: Buffer): void {
    const needed = this.length + chunk.length;
    if (needed > this.#whole.length) {
      const larger = Buffer.allocUnsafeSlow(
        Math.max(needed, Math.min(this.#declared, 2 * this.#whole.length)),
      );
      this.#whole.copy(larger, 0, 0, this.length);
      this.#whole = larger;
    }
    this.#whole.set(chunk, this.length);
    this.length = needed;
  }

  whole(): Uint8Array {
    return this.#whole.subarray(0, this.length);
  }
}

/** Listener for "error", which would otherwise end the process; "close" follows. At module level, so that it references no body. */
function ignoreError(): void {}

export function tooLarge(maxBodyBytes: number): ServiceError {
  return new ServiceError("BODY_TOO_LARGE", `Expected a body of at most ${maxBodyBytes} bytes, got more.`);
}

function cutOff(): ServiceError {
  return new ServiceError("CANCELLED", "The connection closed before the end of the body.");
}

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
  onDrop: (reason: ServiceError) => void;
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
   * @param onDrop called when the body is dropped, to make room or by `close`. The reservation is then already released
   * @throws ServiceError the reason that `close` was given
   */
  reserve(onDrop: (reason: ServiceError) => void): Reservation {
    if (this.#closedFor !== undefined) throw this.#closedFor;
    const entry: Entry = { bytes: 0, isWhole: false, onDrop };
    this.#expected.add(entry);
    return {
      grow: (bytes) => this.#grow(entry, bytes),
      complete: () => {
        this.#forget(entry);
        entry.isWhole = true;
        entry.onDrop = () => {}; // releases the reader, and the body with it
      },
      release: () => this.#release(entry),
    };
  }

  /** Drops all unfinished bodies and refuses new ones. */
  close(reason: ServiceError): void {
    this.#closedFor = reason;
    for (const entry of [...this.#unfinished, ...this.#expected]) this.#drop(entry, reason);
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
      this.#drop(silent, noRoom());
    }
    entry.bytes += bytes;
    this.#bytes += bytes;
    if (entry.isWhole) return;
    this.#unfinished.add(entry); // moves it to the end
    this.#unfinishedBytes += entry.bytes;
  }

  #drop(entry: Entry, reason: ServiceError): void {
    this.#release(entry);
    entry.onDrop(reason);
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
