import type { Contract } from "../contract/call.ts";
import { createMcpEndpoint, type McpEndpoint, type McpEndpointOptions } from "./http.ts";
import { mcpParts } from "./parts.ts";

/** By which names callers reach the service. */
export type McpAddress = Pick<McpEndpointOptions, "hosts" | "isLocal">;

interface DebugLog {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** The endpoint of a service, whose contract answers its calls. */
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
