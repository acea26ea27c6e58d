import type { IncomingMessage, ServerResponse } from "node:http";
import { ServiceError } from "../../errors.ts";
import type { Clock } from "../../inference/ports.ts";
import { queueErrors } from "../../inference/queue/queue-errors.ts";
import { announcesMoreThan, declaredBodyBytes, expectsContinue } from "./headers.ts";
import { LONG_BYTES } from "./long-bodies.ts";

export interface BodyLimits {
  readonly maxBodyBytes: number;
  /** From the headers on. */
  readonly deadlineMs: number;
  readonly clock: Clock;
}

export interface BodyOptions extends BodyLimits {
  /** Called once if the body is long, as soon as that is known; what it throws ends the reading. */
  readonly onLong: () => void;
}

/**
 * The bytes of a request's body, counted while they arrive.
 *
 * A length announced beyond the limit is refused before anything is read, and a caller that waits for a 100 gets it
 * only here: every check that needs no body has passed. What follows after a refusal flows on and is discarded.
 *
 * @throws ServiceError BODY_TOO_LARGE | DEADLINE_EXCEEDED | CANCELLED when the connection closes before the body's end; what
 *         `onLong` throws
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBodyBytes, deadlineMs, clock, onLong }: BodyOptions,
): Promise<Uint8Array> {
  const declared = declaredBodyBytes(request);
  if (announcesMoreThan(maxBodyBytes, request)) throw tooLarge(maxBodyBytes);
  if (request.destroyed) throw cutOff();
  const isKnown = Number.isFinite(declared);
  if (isKnown && declared > LONG_BYTES) onLong();
  if (expectsContinue(request)) response.writeContinue();

  return new Promise((resolve, reject) => {
    const body = new Gathering(declared);
    const settle = (finish: () => void): void => {
      cancelTimer();
      request.off("data", onData).off("end", onEnd).off("close", onClose);
      request.resume();
      finish();
    };
    const onData = (chunk: Buffer): void => {
      const before = body.length;
      const length = before + chunk.length;
      try {
        if (length > maxBodyBytes) throw tooLarge(maxBodyBytes);
        if (!isKnown && before <= LONG_BYTES && length > LONG_BYTES) onLong();
        body.add(chunk);
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const onEnd = (): void => settle(() => resolve(body.whole()));
    const onClose = (): void => settle(() => reject(cutOff()));
    const cancelTimer = clock.after(deadlineMs, () => settle(() => reject(queueErrors.tooLate())));
    request.on("error", ignoreError);
    request.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}

/**
 * A body as far as it has come. One of known length is put together as it comes: sixty of 2 MiB that end in one turn of the
 * event loop would otherwise be copied in that turn, and be in memory twice. (Memory that is not written to is not taken.)
 */
class Gathering {
  readonly #whole: Buffer | undefined;
  readonly #chunks: Buffer[] = [];
  length = 0;

  /** @param declared bytes, infinite where it is not known; Node lets no more of them through */
  constructor(declared: number) {
    if (Number.isFinite(declared)) this.#whole = Buffer.allocUnsafeSlow(declared);
  }

  add(chunk: Buffer): void {
    if (this.#whole === undefined) this.#chunks.push(chunk);
    else this.#whole.set(chunk, this.length);
    this.length += chunk.length;
  }

  whole(): Uint8Array {
    return this.#whole?.subarray(0, this.length) ?? Buffer.concat(this.#chunks, this.length);
  }
}

/** "close" follows, and an error without a listener would end the process. Out here, it keeps no body in memory. */
function ignoreError(): void {}

function tooLarge(maxBodyBytes: number): ServiceError {
  return new ServiceError("BODY_TOO_LARGE", `The body may have at most ${maxBodyBytes} bytes.`);
}

function cutOff(): ServiceError {
  return new ServiceError("CANCELLED", "The connection closed before the body's end.");
}
