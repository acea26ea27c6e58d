import type { IncomingMessage, ServerResponse } from "node:http";
import { ServiceError } from "../../errors.ts";
import type { Clock } from "../../inference/ports.ts";
import { queueErrors } from "../../inference/queue/queue-errors.ts";
import type { BodyBudget } from "./body-budget.ts";
import { declaredBodyBytes, expectsContinue } from "./headers.ts";

export interface BodyLimits {
  readonly maxBodyBytes: number;
  /** From the headers on. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly budget: BodyBudget;
}

/** A whole body. */
export interface WholeBody {
  readonly bytes: Uint8Array;
  /** Counts further bytes, as decoding adds them. @throws ServiceError QUEUE_FULL */
  readonly grow: (bytes: number) => void;
  /** To be called when the request is answered: until then its bytes count as under way. */
  readonly release: () => void;
}

/**
 * The bytes of a request's body, counted while they arrive.
 *
 * A caller that waits for a 100 gets it only here: every check that needs no body has passed. What follows after a refusal
 * flows on and is discarded.
 *
 * @throws ServiceError BODY_TOO_LARGE | QUEUE_FULL (too many bytes of bodies are under way) | DRAINING | DEADLINE_EXCEEDED | CANCELLED when the
 *         connection closes before the body's end
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

/** At first, and never more than is declared. Chosen: most are shorter. */
const FIRST_BYTES = 16_384;

/**
 * A body as far as it has come, put together as it comes: sixty of 2 MiB that end in one turn of the event loop would otherwise be
 * copied in that turn, and be in memory twice. Its buffer doubles with what has come, up to what is declared: a declaration alone
 * takes nothing.
 */
class Gathering {
  readonly #declared: number;
  #whole: Buffer;
  length = 0;

  /** @param declared bytes, infinite where it is not known; Node lets no more of them through */
  constructor(declared: number) {
    this.#declared = declared;
    this.#whole = Buffer.allocUnsafeSlow(Math.min(declared, FIRST_BYTES));
  }

  /** Into one buffer: a buffer for each chunk would take a hundred times the bytes of a body that comes one by one. */
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

/** "close" follows, and an error without a listener would end the process. Out here, it keeps no body in memory. */
function ignoreError(): void {}

export function tooLarge(maxBodyBytes: number): ServiceError {
  return new ServiceError("BODY_TOO_LARGE", `The body may have at most ${maxBodyBytes} bytes.`);
}

function cutOff(): ServiceError {
  return new ServiceError("CANCELLED", "The connection closed before the body's end.");
}
