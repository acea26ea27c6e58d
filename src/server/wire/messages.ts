import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { ErrorKind } from "../../errors.ts";

/** All values of a header. `headers` of Node.js keeps only the first value of most names. @param name in lower case */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? "";
    if (given.length === name.length && given.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? "");
  }
  return values;
}

/** Size of the body according to the headers: Infinity if unknown (chunked), 0 without a body. */
export function declaredBodyBytes(request: Pick<IncomingMessage, "headers">): number {
  if (request.headers["transfer-encoding"] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(request.headers["content-length"] ?? 0); // only digits: Node.js has refused any other value
}

/** Whether the headers announce a body of more than this many bytes. */
export function announcesMoreThan(bytes: number, request: Pick<IncomingMessage, "headers">): boolean {
  const declared = declaredBodyBytes(request);
  return Number.isFinite(declared) && declared > bytes;
}

/** Whether the caller waits for "100 Continue" before it sends the body (HTTP/1.1 only). */
export function expectsContinue(request: Pick<IncomingMessage, "headers" | "httpVersion">): boolean {
  return request.httpVersion === "1.1" && request.headers.expect?.toLowerCase() === "100-continue";
}

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `x-request-id` if it is a safe token, otherwise a new UUID. (Node.js joins repeated headers by a comma, which is not safe.) */
export function requestIdOf(request: Pick<IncomingMessage, "headers">): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && ACCEPTED.test(given) ? given : randomUUID();
}

/** A violation of HTTP itself, which no operation of the contract declares. */
export interface WireFailure {
  readonly kind: ErrorKind;
  readonly detail: string;
  /** Default: that of the kind. */
  readonly status?: number;
}

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
