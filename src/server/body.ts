import type { IncomingMessage, ServerResponse } from "node:http";
import { ServiceError } from "../errors.ts";
import { declaredBodyBytes, expectsContinue } from "./headers.ts";

/**
 * The bytes of a request's body, counted while they arrive.
 *
 * A length announced beyond the limit is refused before anything is read, and a caller that waits for a 100 gets it
 * only here: every check that needs no body has passed. What follows after a refusal flows on and is discarded.
 *
 * @throws ServiceError BODY_TOO_LARGE | CANCELLED when the connection closes before the body's end
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBodyBytes: number,
): Promise<Uint8Array> {
  const declared = declaredBodyBytes(request);
  if (declared !== Number.POSITIVE_INFINITY && declared > maxBodyBytes) throw tooLarge(maxBodyBytes);
  if (request.destroyed) throw cutOff();
  if (expectsContinue(request)) response.writeContinue();

  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (finish: () => void): void => {
      request.off("data", onData).off("end", onEnd).off("close", onClose);
      request.resume();
      finish();
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) settle(() => reject(tooLarge(maxBodyBytes)));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, bytes)));
    const onClose = (): void => settle(() => reject(cutOff()));
    // "close" follows, and an error without a listener would end the process.
    request.on("error", () => {});
    request.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}

function tooLarge(maxBodyBytes: number): ServiceError {
  return new ServiceError("BODY_TOO_LARGE", `The body may have at most ${maxBodyBytes} bytes.`);
}

function cutOff(): ServiceError {
  return new ServiceError("CANCELLED", "The connection closed before the body's end.");
}
