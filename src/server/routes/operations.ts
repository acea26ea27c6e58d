import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from "fastify";
import { contentCodingOf } from "../../contract/bodies/body.ts";
import { decodeBody } from "../../contract/bodies/decoding.ts";
import {
  type Account,
  type Contract,
  type IncomingCall,
  type InferenceFacts,
  isHandled,
  type OutgoingReply,
  type Route,
} from "../../contract/call.ts";
import { ServiceError } from "../../errors.ts";
import type { Clock } from "../../inference/clock.ts";
import type { ServedEngine } from "../../inference/engine.ts";
import { queueErrors } from "../../inference/queue/ticket.ts";
import { KeyAccount } from "../../keys/key-rates.ts";
import type { KeyHolder } from "../../keys/key-ring.ts";
import type { Log } from "../log.ts";
import { type BodyLimits, receiveBody, type WholeBody } from "../wire/bodies.ts";
import { failureReply, logFault, sendReply } from "../wire/replies.ts";
import { checkHead, type HeadCheckOptions } from "./head-checks.ts";

/** Whether there is a place in the queue, and the counter of requests that got none. */
export type Admission = Pick<ServedEngine, "isFull" | "countEarly">;

/** Options of the routes of operations. */
export interface OperationOptions {
  readonly contract: Contract;
  readonly headChecks: HeadCheckOptions;
  readonly bodies: BodyLimits;
  readonly admission: Admission;
  readonly log: Log;
  /** A second header that repeats x-request-id in responses. */
  readonly requestIdHeader?: string | undefined;
}

const NO_BODY = new Uint8Array(0);

/** Every operation of a contract except the documentation pages, which have plugins of their own. */
export const operations: FastifyPluginCallback<OperationOptions> = (app, options, done) => {
  const { requestIdHeader } = options;
  for (const route of options.contract.routes) {
    const { operationId, method, path } = route;
    if (!isHandled(operationId)) continue;
    app.route({
      method,
      url: path,
      config: requestIdHeader === undefined ? { operationId } : { operationId, requestIdHeader },
      handler: (request, reply) => answer(request, reply, route, options),
    });
  }
  done();
};

/** Handles a request and sends the answer. Nothing is written once the caller has left. */
async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  route: Route,
  options: OperationOptions,
): Promise<FastifyReply> {
  const { contract, log } = options;
  const signal = request.server.connections.exchangeOf(request.raw)?.signal ?? new AbortController().signal;
  const outgoing = await replyTo(request, reply, route, signal, options).catch((error: unknown) =>
    isCancelled(error) ? undefined : failureReply(contract, error, request.id, route.operationId),
  );
  if (signal.aborted || outgoing === undefined) {
    log.debug({ operation: route.operationId, requestId: request.id }, "caller left");
    return reply.hijack();
  }
  logFault(log, outgoing, request);
  return sendReply(reply, outgoing);
}

/**
 * Checks the headers, reads the body and calls the contract.
 *
 * @throws ServiceError KEY_MISSING | UNAUTHORIZED | INVALID_REQUEST | BODY_TOO_LARGE | QUEUE_FULL (no memory for bodies) | RATE_LIMITED |
 *         DRAINING | DEADLINE_EXCEEDED | CANCELLED
 */
async function replyTo(
  request: FastifyRequest,
  reply: FastifyReply,
  { operationId, needsKey, hasBody }: Route,
  signal: AbortSignal,
  { contract, headChecks, bodies, admission }: OperationOptions,
): Promise<OutgoingReply> {
  const { raw, id } = request;
  const arrivedAt = bodies.clock.now();
  const holder = checkHead(raw, { operationId, needsKey, hasBody }, headChecks);
  request.keyName = holder?.name;
  if (!hasBody) return contract.call({ operationId, requestId: id, signal, body: NO_BODY });
  const account = openAccount(holder);
  const received = receiveBody(raw, reply.raw, bodies).catch((error: unknown) => {
    if (countEarlyEnd(admission, error)) reply.header("connection", "close"); // the body may never end
    throw error;
  });
  let release = () => {};
  let reading: IncomingCall["reading"];
  const onInference = (facts: InferenceFacts) => request.inferences.push(facts);
  const coding = contentCodingOf(raw.headers);
  const call = async ({ bytes, grow, release: releaseBody }: WholeBody) => {
    release = releaseBody;
    reading = readingUntil(arrivedAt + bodies.deadlineMs, signal, bodies.clock, admission);
    const incoming = { operationId, requestId: id, signal, arrivedAt, reading, account, onInference };
    if (coding === undefined) return contract.call({ ...incoming, body: bytes });
    const limits = { maxBytes: bodies.maxBodyBytes, grow };
    return decodeBody(bytes, coding, limits, reading).then((body) => contract.call({ ...incoming, body }));
  };
  // a promise, so that no stack frame here holds the body while the model computes
  return received.then(call).finally(() => {
    reading?.end();
    release();
  });
}

/** The limits of a key, from which the request is taken before its body is read. @throws ServiceError RATE_LIMITED */
export function openAccount(holder: KeyHolder | undefined): Account | undefined {
  if (holder?.rates === undefined) return undefined;
  const account = new KeyAccount(holder.rates);
  account.prepay();
  return account;
}

/** Ends the decoding and parsing of a body when its caller leaves or its deadline passes, and counts the latter. */
function readingUntil(
  deadlineAt: number,
  gone: AbortSignal,
  clock: Clock,
  admission: Admission,
): NonNullable<IncomingCall["reading"]> {
  const ending = new AbortController();
  const leave = () => ending.abort(gone.reason);
  if (gone.aborted) leave();
  else gone.addEventListener("abort", leave, { once: true });
  const cancel = clock.after(deadlineAt - clock.now(), () => {
    admission.countEarly("timedOut");
    ending.abort(queueErrors.tooLate());
  });
  const end = () => {
    cancel();
    gone.removeEventListener("abort", leave);
  };
  return { signal: ending.signal, end };
}

/** Counts an error while reading a body that becomes 503 or 504. @returns whether the error is such a one */
export function countEarlyEnd(admission: Admission, error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false;
  if (error.kind === "QUEUE_FULL" || error.kind === "DRAINING") admission.countEarly("rejected");
  else if (error.kind === "DEADLINE_EXCEEDED") admission.countEarly("timedOut");
  else return false;
  return true;
}

export function isCancelled(error: unknown): boolean {
  return error instanceof ServiceError && error.kind === "CANCELLED";
}
