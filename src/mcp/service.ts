import type { Contract } from "../contract/call.ts";
import { createMcpEndpoint, type McpEndpoint } from "./http.ts";
import { mcpParts } from "./parts.ts";

interface DebugLog {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** Creates the MCP endpoint of a service. The service's contract handles the calls. */
export async function openMcpEndpoint(contract: Contract, log: DebugLog): Promise<McpEndpoint> {
  return createMcpEndpoint({
    ...(await mcpParts(contract.document)),
    ask:
      ({ requestId, arrivedAt, account, onInference }) =>
      (asked) =>
        contract.call({ ...asked, requestId, arrivedAt, account, onInference }),
    onError: (error) => log.debug({ err: error }, "mcp"),
  });
}
