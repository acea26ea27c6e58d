import { readFile } from "node:fs/promises";
import path from "node:path";
import type { FastifyInstance } from "fastify";
import { handlers } from "../handlers/index.ts";
import type { Contract } from "./contract/call.ts";
import { createContract } from "./contract/contract.ts";
import { REQUEST_LIMITS } from "./decisions/limits.ts";
import { systemClock } from "./inference/clock.ts";
import type { Engine, ServedEngine } from "./inference/ports.ts";
import type { McpEndpoint, McpEndpointOptions } from "./mcp/http.ts";
import { OPTION_TABLE, type ServiceOptions } from "./options/table.ts";
import { packageRoot } from "./package-root.ts";
import type { Log } from "./server/log.ts";
import { createServer } from "./server/server.ts";

const DEFAULT_PORT = OPTION_TABLE.port.default;

export interface AppOptions
  extends Pick<ServiceOptions, "maxConnections" | "headersTimeoutMs" | "bodyMemoryMb"> {
  readonly apiKey?: string | undefined;
  readonly log: Log;
  /** Port to listen on; 0 if not known yet. */
  readonly port: number;
  /** Undefined: MCP is not served. */
  readonly mcp?: Pick<McpEndpointOptions, "hosts" | "isLocal"> | undefined;
}

/** The web server of an engine. It does not listen yet. */
export async function createApp(
  engine: ServedEngine,
  { apiKey, log, port, maxConnections, headersTimeoutMs, bodyMemoryMb, mcp }: AppOptions,
): Promise<FastifyInstance> {
  const contract = await createContractFor(engine, port);
  const limits = {
    maxBodyBytes: REQUEST_LIMITS.maxBodyBytes,
    bodyMemoryBytes: bodyMemoryMb * 2 ** 20,
    deadlineMs: engine.health().settings.deadlineMs,
    maxConnections,
    headersTimeoutMs,
  };
  return createServer({
    contract,
    version: await readVersion(),
    apiKey,
    log,
    limits,
    clock: systemClock,
    admission: engine,
    openMcp: mcp && (() => openMcp(contract, mcp, log)),
  });
}

/** Loads the protocol's SDK: at the first request, so that starting and the contract's own requests cost nothing more. */
async function openMcp(
  contract: Contract,
  where: Pick<McpEndpointOptions, "hosts" | "isLocal">,
  log: Log,
): Promise<McpEndpoint> {
  const { createMcpEndpoint } = await import("./mcp/http.ts");
  return createMcpEndpoint({
    ...where,
    ...(await mcpParts(contract)),
    ask:
      ({ requestId, arrivedAt }) =>
      (asked) =>
        contract.call({ ...asked, requestId, arrivedAt }),
    onError: (error) => log.debug({ err: error }, "mcp"),
  });
}

/** What every MCP server of a contract says of itself. */
export async function mcpParts({ document }: Pick<Contract, "document">) {
  const { listTools } = await import("./mcp/tools.ts");
  const { maxBodyBytes } = REQUEST_LIMITS;
  return { tools: listTools(document), version: await readVersion(), maxBodyBytes };
}

/** The contract over an engine, without a web server. */
export async function createContractFor(engine: Engine, port?: number): Promise<Contract> {
  const document = atPort(await readContractDocument(), port);
  return createContract({
    document,
    handlers,
    services: { engine, document, version: await readVersion(), clock: systemClock },
  });
}

/** The bundled contract. */
export async function readContractDocument(): Promise<Record<string, unknown>> {
  return readJsonFile("generated/openapi.json");
}

/** The contract with the port of this service: clients take its address from there. */
function atPort(document: Record<string, unknown>, port: number | undefined): Record<string, unknown> {
  if (!port || port === DEFAULT_PORT) return document;
  const server = { url: `http://127.0.0.1:${port}`, description: "Where this service listens" };
  return { ...document, servers: [server] };
}

async function readVersion(): Promise<string> {
  return String((await readJsonFile("package.json")).version);
}

async function readJsonFile(name: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(path.join(packageRoot, name), "utf8"));
}
