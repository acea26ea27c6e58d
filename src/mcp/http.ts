import type { IncomingHttpHeaders } from "node:http";
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedHostnames,
  type McpRequestContext,
  PARSE_ERROR,
  type Server,
  validateHostHeader,
  validateOriginHeader,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { InferenceFacts, OutgoingReply } from "../contract/call.ts";
import { ServiceError } from "../errors.ts";
import { keyOf, type ReadMessage, readMessage } from "./messages.ts";
import { createMcpServer, type McpExchange, type McpParts } from "./server.ts";

/** A POST whose key, media type and size have been checked. */
export interface McpPost {
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  readonly requestId: string;
  /** Aborted when the caller has left. */
  readonly signal: AbortSignal;
  /** When its headers were there. */
  readonly arrivedAt: number;
  /** Told of each answer of the model. */
  readonly onInference?: (facts: InferenceFacts) => void;
}

/** As `AskService`, with what the service counts a request's deadline from. */
export type AskForPost = (post: McpPost) => McpParts["ask"];

export interface McpEndpointOptions extends Omit<McpParts, "ask"> {
  readonly ask: AskForPost;
  /** Names by which callers may reach the service, beside the loopback's. */
  readonly hosts: readonly string[];
  /** True: it listens on the loopback alone, so that a request for any other host has come by way of a browser. */
  readonly isLocal: boolean;
  readonly onError: (error: Error) => void;
}

export interface McpEndpoint {
  /** The sentence for a request that a page of another site may have sent; undefined if none has. */
  refusal(headers: IncomingHttpHeaders): string | undefined;
  /** @throws ServiceError CANCELLED */
  answer(post: McpPost): Promise<OutgoingReply>;
}

const JSON_HEADERS = { "content-type": "application/json" };

/**
 * Streamable HTTP without sessions: every POST is answered by one JSON body. Revisions with `initialize` and the one without it
 * are told apart by the SDK.
 */
export function createMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const { ask, hosts, isLocal, onError, ...parts } = options;
  const allowed = [...localhostAllowedHostnames(), ...hosts];
  const exchanges = new WeakMap<Request, McpExchange & { readonly post: McpPost }>();
  const factory = ({ requestInfo }: Pick<McpRequestContext, "requestInfo">): Server => {
    const exchange = requestInfo === undefined ? undefined : exchanges.get(requestInfo);
    if (exchange === undefined) throw new Error("The SDK asked for a server without its request.");
    return createMcpServer({ ...parts, ask: ask(exchange.post) }, exchange);
  };
  // nothing ever changes here that a subscription could tell of
  const modern = createMcpHandler(factory, { legacy: "reject", maxSubscriptions: 0, onerror: onError });

  return {
    refusal({ host, origin }) {
      if (!validateOriginHeader(origin, allowed).ok)
        return "This service answers programs, and pages of its own host only: the Origin header names another one.";
      if (isLocal && !validateHostHeader(host, allowed).ok)
        return "The Host header must name the loopback, or a host that --mcp-host allows.";
      return undefined;
    },
    async answer(post) {
      const read = await readMessage(post.body, post.signal).catch((error: unknown) => {
        if (error instanceof ServiceError && error.kind === "INVALID_REQUEST") return error;
        throw error;
      });
      if (read instanceof ServiceError) return parseError(read.message);
      const request = new Request("http://localhost/mcp", {
        method: "POST",
        headers: passedOn(post.headers),
      });
      exchanges.set(request, { post, signal: post.signal, takeArguments: taker(read) });
      const response = (await isLegacyRequest(request, read.plain))
        ? await answerLegacy(factory({ requestInfo: request }), request, read.plain)
        : await modern.fetch(request, { parsedBody: read.plain });
      return { status: response.status, headers: replyHeaders(response), body: await response.text() };
    },
  };
}

/** Revisions up to 2025-11-25: a server and a transport for this one message, and JSON where the SDK would open a stream. */
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
    const key = keyOf(id);
    const given = waiting.get(key);
    if (!(given instanceof ServiceError)) waiting.delete(key); // not held while the model computes
    return given;
  };
}

/** All answers are JSON, so nobody needs to accept streams. */
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

/** For a message that cannot be read, so that its id is not known. */
function parseError(message: string): OutgoingReply {
  const body = JSON.stringify({ jsonrpc: "2.0", error: { code: PARSE_ERROR, message }, id: null });
  return { status: 400, headers: JSON_HEADERS, body };
}
