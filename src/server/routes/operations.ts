import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  type Contract,
  type HandledId,
  isHandled,
  type OutgoingReply,
  type Route,
} from "../../contract/call.ts";
import { ServiceError } from "../../errors.ts";
import type { TurnedAway } from "../../inference/ports.ts";
import type { Log } from "../log.ts";
import { type BodyLimits, readBody } from "../wire/body.ts";
import { exchangeOf } from "../wire/connections.ts";
import { headerValues } from "../wire/headers.ts";
import type { LongBodies } from "../wire/long-bodies.ts";
import { failureReply, logFault, sendReply } from "../wire/replies.ts";
import type { KeyCheck } from "./authorization.ts";

/** What an operation's route needs. */
export interface OperationOptions {
  readonly contract: Contract;
  /** Undefined: no key is configured, nothing is checked. */
  readonly checkKey: KeyCheck | undefined;
  readonly bodies: BodyLimits;
  readonly longBodies: LongBodies;
  readonly onTurnedAway: (reason: TurnedAway) => void;
  readonly log: Log;
}

const NO_BODY = new Uint8Array(0);

/** Serves every operation of the contract but the pages, which have plugins of their own. */
export function serveOperations(app: FastifyInstance, options: OperationOptions): void {
  for (const route of options.contract.routes) {
    const { operationId, method, path } = route;
    if (!isHandled(operationId)) continue;
    app.route({
      method,
      url: path,
      config: { operationId },
      handler: (request, reply) => answer(request, reply, { ...route, operationId }, options),
    });
  }
}

type HandledRoute = Route & { readonly operationId: HandledId };

/** One request from its headers to its answer; nothing is written once the caller has left. */
async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  route: HandledRoute,
  options: OperationOptions,
): Promise<FastifyReply> {
  const { contract, log } = options;
  const signal = exchangeOf(request.raw)?.signal ?? new AbortController().signal;
  const outgoing = await replyTo(request, reply, route, signal, options).catch((error: unknown) =>
    isCancelled(error) ? undefined : failureReply(contract, error, request.id),
  );
  if (signal.aborted || outgoing === undefined) {
    log.debug({ operation: route.operationId, requestId: request.id }, "caller left");
    return reply.hijack();
  }
  logFault(log, outgoing, request);
  return sendReply(reply, outgoing);
}

/**
 * The checks in their order, then the contract.
 *
 * @throws ServiceError UNAUTHORIZED | INVALID_REQUEST | BODY_TOO_LARGE | QUEUE_FULL | DEADLINE_EXCEEDED | CANCELLED
 */
async function replyTo(
  { raw, id }: FastifyRequest,
  reply: FastifyReply,
  { operationId, needsKey, hasBody }: HandledRoute,
  signal: AbortSignal,
  { contract, checkKey, bodies, longBodies, onTurnedAway }: OperationOptions,
): Promise<OutgoingReply> {
  const arrivedAt = bodies.clock.now();
  if (needsKey) checkKey?.(raw);
  if (!hasBody) return contract.call({ operationId, requestId: id, signal, body: NO_BODY });
  contract.checkMediaType({ ...raw.headers, "content-type": headerValues(raw.rawHeaders, "content-type") });
  let giveBack = () => {};
  const onLong = () => {
    giveBack = longBodies.take();
  };
  const reading = readBody(raw, reply.raw, { ...bodies, onLong }).catch((error: unknown) => {
    if (isTurnedAway(error)) onTurnedAway(error.kind);
    throw error;
  });
  const call = (body: Uint8Array) => contract.call({ operationId, requestId: id, signal, arrivedAt, body });
  return reading.then(call).finally(() => giveBack()); // no frame here holds the body while it is answered
}

function isTurnedAway(error: unknown): error is ServiceError & { readonly kind: TurnedAway } {
  return error instanceof ServiceError && (error.kind === "QUEUE_FULL" || error.kind === "DEADLINE_EXCEEDED");
}

function isCancelled(error: unknown): boolean {
  return error instanceof ServiceError && error.kind === "CANCELLED";
}
