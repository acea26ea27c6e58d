import type { IncomingHttpHeaders } from "node:http";
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from "fastify";
import type { Account, InferenceFacts, OutgoingReply } from "../../contract/call.ts";
import { ServiceError } from "../../errors.ts";
import { receiveBody } from "../wire/bodies.ts";
import { failureReply, logFault, sendReply } from "../wire/replies.ts";
import { checkHead, type HostCheck } from "./head-checks.ts";
import { countEarlyEnd, isCancelled, type OperationOptions, openAccount } from "./operations.ts";

/** The part of the MCP endpoint (src/mcp/http.ts) that its route uses. */
export interface McpRoute {
  answer(post: McpPost): Promise<OutgoingReply>;
}

interface McpPost {
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly arrivedAt: number;
  readonly account: Account | undefined;
  readonly onInference: (facts: InferenceFacts) => void;
}

export type OpenMcp = () => Promise<McpRoute>;

export interface McpOptions extends OperationOptions {
  readonly open: OpenMcp;
  /** Whether a page of another site may have sent the request. */
  readonly checkSender: HostCheck;
}

/** JSON-RPC reserves -32000 to -32099 for errors of servers. */
const SERVER_ERROR = -32_000;

const INVALID = { "x-decision-error": "INVALID_REQUEST" };

const ROUTE = { operationId: "mcp", needsKey: true, hasBody: true };

/**
 * `POST /mcp`. Other methods get 405, because there are no sessions.
 *
 * Key, size limit and memory for bodies are those of the operations. A full queue is reported by the tool calls, because other
 * methods, such as listing tools, need no place in it.
 */
export const mcp: FastifyPluginCallback<McpOptions> = (app, options, done) => {
  let opened: Promise<McpRoute> | undefined;
  app.post("/mcp", { config: { operationId: ROUTE.operationId } }, async (request, reply) => {
    opened ??= options.open();
    return await answer(request, reply, await opened, options);
  });
  done();
};

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  mcp: McpRoute,
  options: McpOptions,
): Promise<FastifyReply> {
  const signal = request.server.connections.exchangeOf(request.raw)?.signal ?? new AbortController().signal;
  const outgoing = await replyTo(request, reply, mcp, signal, options).catch((error: unknown) =>
    isCancelled(error) ? undefined : asRpcError(error, failureReply(options.contract, error, request.id)),
  );
  if (signal.aborted || outgoing === undefined) return reply.hijack();
  logFault(options.log, outgoing, request);
  return sendReply(reply, outgoing);
}

/** @throws ServiceError HOST_NOT_ALLOWED | ORIGIN_NOT_ALLOWED | UNAUTHORIZED | INVALID_REQUEST | BODY_TOO_LARGE | QUEUE_FULL | DEADLINE_EXCEEDED | CANCELLED */
async function replyTo(
  request: FastifyRequest,
  reply: FastifyReply,
  mcp: McpRoute,
  signal: AbortSignal,
  { headChecks, bodies, admission, checkSender }: McpOptions,
): Promise<OutgoingReply> {
  const { raw, id } = request;
  const arrivedAt = bodies.clock.now();
  const obstacle = checkSender(raw);
  if (obstacle !== undefined) throw obstacle;
  const holder = checkHead(raw, ROUTE, headChecks);
  request.keyName = holder?.name;
  const account = openAccount(holder);
  const { bytes, release } = await receiveBody(raw, reply.raw, bodies).catch((error: unknown) => {
    if (countEarlyEnd(admission, error)) reply.header("connection", "close"); // the body may never end
    throw error;
  });
  const onInference = (facts: InferenceFacts) => request.inferences.push(facts);
  const post = { headers: raw.headers, body: bytes, requestId: id, signal, arrivedAt, account, onInference };
  const outgoing = await mcp.answer(post).finally(release);
  // what the SDK refuses breaks the protocol
  return outgoing.status < 400 ? outgoing : { ...outgoing, headers: { ...outgoing.headers, ...INVALID } };
}

/** Converts the contract's error response to a JSON-RPC error with the same status and headers. */
function asRpcError(error: unknown, { status, headers, body, cause }: OutgoingReply): OutgoingReply {
  const isMediaType = error instanceof ServiceError && error.issues.some(({ type }) => type === "media_type");
  const detail: unknown = JSON.parse(body).detail;
  const sentence = Array.isArray(detail) ? detail.map(({ msg }) => msg).join(" ") : String(detail);
  return { ...rpcError(isMediaType ? 415 : status, sentence, headers), cause };
}

function rpcError(status: number, message: string, headers: Readonly<Record<string, string>>): OutgoingReply {
  const error = { code: SERVER_ERROR, message };
  return {
    status,
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", error, id: null }),
  };
}
