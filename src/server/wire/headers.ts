import type { IncomingMessage } from "node:http";

/** Every value of this (lower case) name, line by line. Node's `headers` keeps only the first of most names. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? "";
    if (given.length === name.length && given.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? "");
  }
  return values;
}

/** Bytes that the request says its body has: Infinity where only the end will tell (chunked), 0 without a body. */
export function declaredBodyBytes(request: Pick<IncomingMessage, "headers">): number {
  if (request.headers["transfer-encoding"] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(request.headers["content-length"] ?? 0); // digits only, or Node refused the request
}

/** Whether it says that its body has more bytes. */
export function announcesMoreThan(bytes: number, request: Pick<IncomingMessage, "headers">): boolean {
  const declared = declaredBodyBytes(request);
  return Number.isFinite(declared) && declared > bytes;
}

/** Whether the caller waits for a 100 before it sends the body. HTTP/1.0 has no such thing. */
export function expectsContinue(request: Pick<IncomingMessage, "headers" | "httpVersion">): boolean {
  return request.httpVersion === "1.1" && request.headers.expect?.toLowerCase() === "100-continue";
}
