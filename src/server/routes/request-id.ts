import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `x-request-id` where it is a safe token, else a new uuid. Two of them arrive joined by a comma. */
export function requestIdOf(request: Pick<IncomingMessage, "headers">): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && ACCEPTED.test(given) ? given : randomUUID();
}
