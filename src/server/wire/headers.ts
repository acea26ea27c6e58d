import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

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
