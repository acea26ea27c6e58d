import { invalidRequest, ServiceError } from "../../errors.ts";
import type { ContentCoding } from "./media-type.ts";

export interface CodingLimits {
  /** Maximum bytes of a decoded body. */
  readonly maxBytes: number;
  /** Called with the number of decoded bytes before they are stored. @throws ServiceError if there is no memory for them */
  readonly grow: (bytes: number) => void;
}

export function damaged(coding: ContentCoding, expectation = ""): ServiceError {
  const wanted = [`a body in the coding ${coding}`, expectation].filter((part) => part !== "").join(" ");
  const msg = `Expected ${wanted}, as declared in Content-Encoding, got another coding or damaged data.`;
  return invalidRequest([{ loc: ["body"], msg, type: "media_type" }]);
}

export function tooLong(maxBytes: number): ServiceError {
  return new ServiceError("BODY_TOO_LARGE", `The decoded body may have at most ${maxBytes} bytes.`);
}
