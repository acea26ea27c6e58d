import { REQUEST_LIMITS } from "../decisions/request.ts";
import { readPackageJson } from "../package-root.ts";
import type { Schema } from "./schemas.ts";
import type { McpParts } from "./server.ts";
import { listTools } from "./tools.ts";

/**
 * The parts that all MCP servers of this package share.
 *
 * @param document the contract, parsed; the one of this package by default
 */
export async function mcpParts(document?: Schema): Promise<Omit<McpParts, "ask">> {
  const [contract, { version }] = await Promise.all([
    document ?? readPackageJson("generated/openapi.typed.json"),
    readPackageJson("package.json"),
  ]);
  return { tools: listTools(contract), version: String(version), maxBodyBytes: REQUEST_LIMITS.maxBodyBytes };
}
