import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Contract, OutgoingReply } from "../../contract/call.ts";
import { ServiceError } from "../../errors.ts";
import type { Log } from "../log.ts";
import { hasUnreadBody, isWorthDraining, lingerBeforeClosing } from "./lingering.ts";
import { wireReply } from "./wire-failures.ts";

/** Sends an answer of the contract. As bytes: to a JSON text Fastify would add a charset that JSON does not have. */
export function sendReply(reply: FastifyReply, outgoing: OutgoingReply): FastifyReply {
  return reply.code(outgoing.status).headers(outgoing.headers).send(Buffer.from(outgoing.body, "utf8"));
}

/** Adds the common headers; runs before each response of Fastify is written, the documentation's too. */
export function finishHeaders(request: FastifyRequest, reply: FastifyReply): void {
  const { "cache-control": caching, ...headers } = commonHeaders(
    request.raw,
    request.id,
    request.server.isDraining,
  );
  reply.headers(headers);
  if (!reply.hasHeader("cache-control")) reply.header("cache-control", caching);
  const { requestIdHeader } = request.routeOptions?.config ?? {}; // a path that cannot be read has no route
  if (requestIdHeader !== undefined) reply.header(requestIdHeader, request.id);
}

/**
 * The headers that every response carries. To be called before it is written: if it closes the connection, what is left of the
 * request's body is discarded before.
 */
export function commonHeaders(
  request: IncomingMessage,
  requestId: string,
  isDraining: boolean,
): CommonHeaders {
  const isUnread = hasUnreadBody(request);
  if (isUnread) lingerBeforeClosing(request);
  const closes = isDraining || (isUnread && !isWorthDraining(request));
  return {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    ...(closes ? { connection: "close" } : {}),
  };
}

type CommonHeaders = Record<"x-request-id" | "x-content-type-options" | "cache-control", string> & {
  connection?: string;
};

/** Logs an answer that is the service's own fault, with what was thrown. */
export function logFault(log: Log, { status, cause }: OutgoingReply, request: FastifyRequest): void {
  if (cause === undefined) return; // a full queue, say, is no fault
  const { operationId } = request.routeOptions.config;
  log.error({ err: cause, status, operation: operationId, requestId: request.id }, "request failed");
}

/** The answer for whatever was thrown while a request was handled. */
export function failureReply(
  contract: Contract,
  error: unknown,
  requestId: string,
  operationId?: string,
): OutgoingReply {
  const status = clientStatusOf(error);
  if (status === undefined) return contract.errorReply(error, requestId, operationId);
  // 403 is what the plugin for static files says to a path that leads out of its folder.
  if (status === 404 || status === 403) return contract.errorReply(notFound(), requestId);
  const kind = status === 412 || status === 416 ? "CONDITION_FAILED" : "MALFORMED_HTTP";
  const failure = { kind, detail: "The request cannot be answered." } as const;
  return { ...wireReply(contract, failure, requestId), status };
}

export function notFound(): ServiceError {
  return new ServiceError("NOT_FOUND", "This path does not exist.");
}

/** The 4xx status by which Fastify and its plugins mark an error as the caller's. */
function clientStatusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("statusCode" in error)) return undefined;
  const status = error.statusCode;
  return typeof status === "number" && status >= 400 && status < 500 ? status : undefined;
}
