import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `x-request-id` if it is a safe token, otherwise a new UUID. (Node.js joins repeated headers by a comma, which is not safe.) */
export function requestIdOf(request: Pick<IncomingMessage, "headers">): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && ACCEPTED.test(given) ? given : randomUUID();
}
