import type { IncomingMessage, ServerResponse } from "node:http";
import { ServiceError } from "../../errors.ts";
import type { Clock } from "../../inference/clock.ts";
import { queueErrors } from "../../inference/queue/outcomes.ts";
import type { BodyBudget } from "./body-budget.ts";
import { declaredBodyBytes, expectsContinue } from "./headers.ts";

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
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBodyBytes, deadlineMs, clock, budget }: BodyLimits,
): Promise<WholeBody> {
  if (request.destroyed) throw cutOff();
  if (expectsContinue(request)) response.writeContinue();

  return new Promise((resolve, reject) => {
    const body = new Gathering(declaredBodyBytes(request));
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
class Gathering {
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
