import { ProtocolError, ProtocolErrorCode, Server, type Tool } from "@modelcontextprotocol/server";
import { type ArgumentLimits, fitArguments } from "./arguments.ts";
import { type AskService, callTool } from "./call-tool.ts";
import type { SentArguments } from "./messages.ts";
import { TOOLS, toolOf } from "./tools.ts";

export interface McpParts extends ArgumentLimits {
  readonly ask: AskService;
  readonly tools: Tool[];
  /** The service's version. */
  readonly version: string;
  /** Called before the tools are used. */
  readonly onUse?: () => void;
}

/** An HTTP exchange, or a connection over standard input and output. */
export interface McpExchange {
  /** Returns and forgets the arguments of a call. @param id the message's id */
  takeArguments(id: unknown): SentArguments;
  /** Aborted when the caller disconnects; undefined if the SDK's own signal is used. */
  readonly signal?: AbortSignal | undefined;
}

const INSTRUCTIONS =
  "Typed decisions: closed questions about a text, answered with probabilities by a small local model in milliseconds. " +
  "Call `decide` to classify, to check a statement or to grade; call `rank` to order candidate texts. Neither writes text or " +
  "changes anything. The model judges what stands in the state; it is poor at facts about the world, at arithmetic and at " +
  "comparing dates.";

/**
 * Creates an MCP server for one exchange or connection. Its tools have the contract's schemas instead of zod copies.
 */
export function createMcpServer(
  { ask, tools, version, onUse, ...limits }: McpParts,
  exchange: McpExchange,
): Server {
  const server = new Server(
    { name: "typed-decisions", title: "Typed decision service", version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler("tools/list", () => {
    onUse?.();
    return { tools };
  });
  server.setRequestHandler("tools/call", async ({ params: { name: calledAs } }, { mcpReq }) => {
    const given = exchange.takeArguments(mcpReq.id);
    const signal = exchange.signal ?? mcpReq.signal;
    const name = toolOf(calledAs);
    const tool = tools.find((listed) => listed.name === name);
    if (name !== undefined && tool !== undefined)
      return callTool(name, await fitArguments(given, tool.inputSchema, limits, { signal }), signal, ask);
    const known = Object.keys(TOOLS).join(", ");
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `There is no such tool; the tools are ${known}.`,
    );
  });
  return server;
}
