import type { IncomingHttpHeaders } from "node:http";
import {
  createMcpHandler,
  isLegacyRequest,
  type McpRequestContext,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { IncomingCall, OutgoingReply } from "../contract/call.ts";
import { ServiceError } from "../errors.ts";
import { type ReadMessage, readMessage, writeRefusal, writeWithIds } from "./messages.ts";
import { createMcpServer, type McpExchange, type McpParts } from "./server.ts";

/** A POST whose key, media type and size have been checked. */
export interface McpPost extends Omit<IncomingCall, "operationId" | "body"> {
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/** Creates an `AskService` for a POST, from whose arrival the deadline counts. */
export type AskForPost = (post: McpPost) => McpParts["ask"];

export interface McpEndpointOptions extends Omit<McpParts, "ask"> {
  readonly ask: AskForPost;
  readonly onError: (error: Error) => void;
}

export interface McpEndpoint {
  /** @throws ServiceError CANCELLED */
  answer(post: McpPost): Promise<OutgoingReply>;
}

const JSON_HEADERS = { "content-type": "application/json" };

/**
 * Streamable HTTP without sessions: every POST is answered with one JSON body. The SDK distinguishes revisions with
 * `initialize` from the one without it.
 */
export function createMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const { ask, onError, ...parts } = options;
  const exchanges = new WeakMap<Request, McpExchange & { readonly post: McpPost }>();
  const factory = ({ requestInfo }: Pick<McpRequestContext, "requestInfo">): Server => {
    const exchange = requestInfo === undefined ? undefined : exchanges.get(requestInfo);
    if (exchange === undefined) throw new Error("The SDK asked for a server without its request.");
    return createMcpServer({ ...parts, ask: ask(exchange.post) }, exchange);
  };
  // subscriptions would never have an event
  const modern = createMcpHandler(factory, { legacy: "reject", maxSubscriptions: 0, onerror: onError });

  return {
    async answer(post) {
      const read = await readMessage(post.body, post.signal);
      if ("error" in read) return { status: 400, headers: JSON_HEADERS, body: writeRefusal(read) };
      const request = new Request("http://localhost/mcp", {
        method: "POST",
        headers: passedOn(post.headers),
      });
      exchanges.set(request, { post, signal: post.signal, takeArguments: taker(read) });
      const response = (await isLegacyRequest(request, read.plain))
        ? await answerLegacy(factory({ requestInfo: request }), request, read.plain)
        : await modern.fetch(request, { parsedBody: read.plain });
      const answer = await response.text();
      const body = answer === "" ? answer : writeWithIds(JSON.parse(answer));
      return { status: response.status, headers: replyHeaders(response), body };
    },
  };
}

/**
 * Revisions up to 2025-11-25: a server and a transport for this single message, which answers with JSON instead of a
 * stream.
 */
async function answerLegacy(server: Server, request: Request, plain: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: plain });
  } finally {
    await server.close();
  }
}

function taker({ calls }: ReadMessage): McpExchange["takeArguments"] {
  const waiting = new Map(calls);
  return (id) => {
    const key = String(id);
    const given = waiting.get(key);
    if (!(given instanceof ServiceError)) waiting.delete(key); // the body is released during inference
    return given;
  };
}

/** Headers for the SDK. `Accept` is replaced, since all answers are JSON and callers need not accept streams. */
function passedOn(headers: IncomingHttpHeaders): Record<string, string> {
  const given = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[0].startsWith("mcp-") && typeof entry[1] === "string",
  );
  return {
    ...Object.fromEntries(given),
    ...JSON_HEADERS,
    accept: "application/json, text/event-stream",
  };
}

function replyHeaders({ headers }: Response): Record<string, string> {
  const type = headers.get("content-type");
  return type === null ? {} : { "content-type": type };
}
