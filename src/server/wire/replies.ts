import type { FastifyReply, FastifyRequest } from "fastify";
import type { Contract, OutgoingReply } from "../../contract/call.ts";
import { ServiceError } from "../../errors.ts";
import type { Log } from "../log.ts";
import { wireReply } from "./wire-failures.ts";

/** Sends a reply of the contract. As a string, because Node.js writes it together with the headers. */
export function sendReply(reply: FastifyReply, { status, headers, body }: OutgoingReply): FastifyReply {
  return reply.code(status).headers(headers).serializer(asIs).send(body);
}

/** Without a serializer, Fastify would add a charset to the content type. */
const asIs = (body: string) => body;

/** Adds the common headers. Runs before each response of Fastify is written, including the documentation. */
export function finishHeaders(request: FastifyRequest, reply: FastifyReply): void {
  const { "cache-control": caching, ...headers } = COMMON_HEADERS;
  reply.headers(headers).header("x-request-id", request.id);
  const { connections, isDraining } = request.server;
  if (connections.closesAfter(request.raw, isDraining)) reply.header("connection", "close");
  if (!reply.hasHeader("cache-control")) reply.header("cache-control", caching);
  const { requestIdHeader } = request.routeOptions?.config ?? {}; // a path that cannot be decoded has no route
  if (requestIdHeader !== undefined) reply.header(requestIdHeader, request.id);
}

/** Headers of every response, besides `x-request-id`. */
export const COMMON_HEADERS = { "x-content-type-options": "nosniff", "cache-control": "no-store" } as const;

/** Logs the cause of a response that reports a fault of the service itself. */
export function logFault(log: Log, { status, cause }: OutgoingReply, request: FastifyRequest): void {
  if (cause === undefined) return; // for example a full queue, which is no fault
  const { operationId } = request.routeOptions.config;
  log.error({ err: cause, status, operation: operationId, requestId: request.id }, "request failed");
}

/** The response for anything thrown while a request was handled. */
export function failureReply(
  contract: Contract,
  error: unknown,
  requestId: string,
  operationId?: string,
): OutgoingReply {
  const status = clientStatusOf(error);
  if (status === undefined) return contract.errorReply(error, requestId, operationId);
  // the plugin for static files uses 403 for paths outside its folder
  if (status === 404 || status === 403) return contract.errorReply(notFound(), requestId);
  const kind = status === 412 || status === 416 ? "CONDITION_FAILED" : "MALFORMED_HTTP";
  const failure = { kind, detail: "Expected a request that this path can answer, got another." } as const;
  return { ...wireReply(contract, failure, requestId), status };
}

export function notFound(): ServiceError {
  return new ServiceError("NOT_FOUND", "This path does not exist.");
}

/** The 4xx status of an error of Fastify or its plugins that the caller has caused. */
function clientStatusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("statusCode" in error)) return undefined;
  const status = error.statusCode;
  return typeof status === "number" && status >= 400 && status < 500 ? status : undefined;
}
