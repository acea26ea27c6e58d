import type { IncomingMessage } from "node:http";
import { expectsContinue, headerValues } from "./headers.ts";
import type { WireFailure } from "./wire-failures.ts";

const MALFORMED_LINE: WireFailure = {
  kind: "MALFORMED_HTTP",
  detail: "Expected a request line that ends with HTTP/1.1 or HTTP/1.0, got another.",
};
const HOST_MISSING: WireFailure = {
  kind: "MALFORMED_HTTP",
  detail: "Expected exactly one Host header in an HTTP/1.1 request, got none or several.",
};
/** RFC 9112, 6.1: such a message has faulty framing: a proxy in front may see it end elsewhere. */
const FRAMING_UNKNOWN: WireFailure = {
  kind: "MALFORMED_HTTP",
  detail: "Expected the length of an HTTP/1.0 body in Content-Length, got none.",
};
/** RFC 9112, 6.1: Node.js checks only that the last coding is `chunked`, and does not decode the others. */
const CODING_UNKNOWN: WireFailure = {
  kind: "MALFORMED_HTTP",
  detail: "Expected no Transfer-Encoding but `chunked`, got another one.",
  status: 501,
};
const EXPECTATION_FAILED: WireFailure = {
  kind: "EXPECTATION_FAILED",
  detail: "Expected `100-continue` as the only expectation, got another.",
};

/** Violations of HTTP, independent of the route, that Node.js accepts or would answer itself. */
export function messageFailure(request: IncomingMessage): WireFailure | undefined {
  if (request.httpVersionMajor !== 1) return MALFORMED_LINE; // without a version, Node.js assumes HTTP/0.9
  if (request.httpVersion !== "1.1")
    return request.headers["transfer-encoding"] === undefined ? undefined : FRAMING_UNKNOWN;
  if (headerValues(request.rawHeaders, "host").length !== 1) return HOST_MISSING;
  if ((request.headers["transfer-encoding"] ?? "chunked").trim().toLowerCase() !== "chunked")
    return CODING_UNKNOWN;
  if (request.headers.expect !== undefined && !expectsContinue(request)) return EXPECTATION_FAILED;
  return undefined;
}
