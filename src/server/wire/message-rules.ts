import type { IncomingMessage } from "node:http";
import { expectsContinue, headerValues } from "./headers.ts";
import type { WireFailure } from "./wire-failures.ts";

const MALFORMED_LINE: WireFailure = {
  kind: "MALFORMED_HTTP",
  detail: "The request line must end with HTTP/1.1 or HTTP/1.0.",
};
const HOST_MISSING: WireFailure = {
  kind: "MALFORMED_HTTP",
  detail: "An HTTP/1.1 request must have exactly one Host header.",
};
/** RFC 9112, 6.1: such a message has faulty framing: a proxy in front may see it end elsewhere. */
const FRAMING_UNKNOWN: WireFailure = {
  kind: "MALFORMED_HTTP",
  detail: "An HTTP/1.0 request must give the length of its body by Content-Length.",
};
const EXPECTATION_FAILED: WireFailure = {
  kind: "EXPECTATION_FAILED",
  detail: "The only expectation that can be met is `100-continue`.",
};

/** Violations of HTTP, independent of the route, that Node.js accepts or would answer itself. */
export function messageFailure(request: IncomingMessage): WireFailure | undefined {
  if (request.httpVersionMajor !== 1) return MALFORMED_LINE; // without a version, Node.js assumes HTTP/0.9
  if (request.httpVersion !== "1.1")
    return request.headers["transfer-encoding"] === undefined ? undefined : FRAMING_UNKNOWN;
  if (headerValues(request.rawHeaders, "host").length !== 1) return HOST_MISSING;
  if (request.headers.expect !== undefined && !expectsContinue(request)) return EXPECTATION_FAILED;
  return undefined;
}
