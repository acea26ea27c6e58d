import type { Contract } from "../contract/call.ts";
import { createMcpEndpoint, type McpEndpoint, type McpEndpointOptions } from "./http.ts";
import { mcpParts } from "./parts.ts";

/** Host names under which callers reach the service. */
export type McpAddress = Pick<McpEndpointOptions, "hosts" | "isLocal">;

interface DebugLog {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** Creates the MCP endpoint of a service. The service's contract handles the calls. */
export async function openMcpEndpoint(
  contract: Contract,
  address: McpAddress,
  log: DebugLog,
): Promise<McpEndpoint> {
  return createMcpEndpoint({
    ...address,
    ...(await mcpParts(contract.document)),
    ask:
      ({ requestId, arrivedAt, onInference }) =>
      async (asked) => {
        const reply = await contract.call({ ...asked, requestId, arrivedAt });
        if (reply.inference !== undefined) onInference?.(reply.inference);
        return reply;
      },
    onError: (error) => log.debug({ err: error }, "mcp"),
  });
}
