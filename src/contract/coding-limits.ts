import { invalidRequest, ServiceError } from "../errors.ts";
import type { ContentCoding } from "./media-type.ts";

export interface CodingLimits {
  /** Most bytes of a decoded body. */
  readonly maxBytes: number;
  /** Told of decoded bytes before they are kept. @throws ServiceError where there is no room for them */
  readonly grow: (bytes: number) => void;
}

export function damaged(coding: ContentCoding, expectation = ""): ServiceError {
  const wanted = [`a body in the coding ${coding}`, expectation].filter((part) => part !== "").join(" ");
  const msg = `Expected ${wanted}, as Content-Encoding says, got another or a damaged one.`;
  return invalidRequest([{ loc: ["body"], msg, type: "media_type" }]);
}

export function tooLong(maxBytes: number): ServiceError {
  return new ServiceError("BODY_TOO_LARGE", `The body may have at most ${maxBytes} bytes, decoded.`);
}
