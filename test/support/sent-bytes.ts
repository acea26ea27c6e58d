import type { IncomingCall } from "../../src/contract/call.ts";
import { writeJson } from "../../src/json/write.ts";

/** The body of a call as bytes, also where its caller has read it; none of an operation without a body. */
export function sentBytes({ body }: Pick<IncomingCall, "body">): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.from(body === null ? "" : writeJson(body));
}
