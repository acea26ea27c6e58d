import { readFile } from "node:fs/promises";
import path from "node:path";
import type { FastifyInstance } from "fastify";
import { dialects } from "../handlers/dialects.ts";
import { handlers } from "../handlers/index.ts";
import type { Contract } from "./contract/call.ts";
import { createContract } from "./contract/contract.ts";
import { REQUEST_LIMITS } from "./decisions/limits.ts";
import { systemClock } from "./inference/clock.ts";
import type { Engine, ServedEngine } from "./inference/ports.ts";
import type { KeyRing } from "./keys/key-ring.ts";
import type { McpAddress } from "./mcp/service.ts";
import { OPTION_TABLE, type ServiceOptions } from "./options/table.ts";
import { packageRoot } from "./package-root.ts";
import type { Log } from "./server/log.ts";
import { createServer, type ServedDialect } from "./server/server.ts";
import type { Tracing } from "./server/tracing.ts";
import type { TlsFiles } from "./server/wire/listener.ts";
import type { ServiceMetrics } from "./telemetry/metrics/service-metrics.ts";
import type { TraceSettings } from "./telemetry/traces/trace-settings.ts";

const DEFAULT_PORT = OPTION_TABLE.port.default;

export interface AppOptions
  extends Pick<ServiceOptions, "maxConnections" | "headersTimeoutMs" | "bodyMemoryMb">,
    Partial<Pick<ServiceOptions, "typesafeAlias">> {
  readonly apiKey?: string | KeyRing | undefined;
  readonly log: Log;
  /** Port to listen on; 0 if not known yet. */
  readonly port: number;
  /** Noted from each request. Undefined: nothing is measured. */
  readonly serviceMetrics?: ServiceMetrics | undefined;
  /** Whether they are read at /metrics of this server, rather than elsewhere. */
  readonly servesMetrics?: boolean;
  /** Undefined: MCP is not served. */
  readonly mcpAddress?: McpAddress | undefined;
  /** Undefined: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** Undefined: plain HTTP. */
  readonly tls?: TlsFiles | undefined;
  readonly corsOrigin?: readonly string[];
}

/** The web server of an engine. It does not listen yet. */
export async function createApp(
  engine: ServedEngine,
  {
    apiKey,
    log,
    port,
    maxConnections,
    headersTimeoutMs,
    bodyMemoryMb,
    typesafeAlias = [],
    mcpAddress,
    serviceMetrics,
    servesMetrics = serviceMetrics !== undefined,
    tracing,
    tls,
    corsOrigin = [],
  }: AppOptions,
): Promise<FastifyInstance> {
  const [contract, served] = await Promise.all([
    createContractFor(engine, port),
    createDialectsFor(engine, port, { typesafe: typesafeAlias }),
  ]);
  const limits = {
    maxBodyBytes: REQUEST_LIMITS.maxBodyBytes,
    bodyMemoryBytes: bodyMemoryMb * 2 ** 20,
    deadlineMs: engine.health().settings.deadlineMs,
    maxConnections,
    headersTimeoutMs,
  };
  return createServer({
    contract,
    dialects: served,
    version: await readVersion(),
    apiKey,
    log,
    limits,
    clock: systemClock,
    admission: engine,
    onRequestEnd: serviceMetrics && ((record) => serviceMetrics.noteRequest(record)),
    metrics: servesMetrics ? serviceMetrics : undefined,
    // the protocol's SDK is loaded at the first request: starting and the contract's own requests cost nothing more
    openMcp:
      mcpAddress &&
      (async () => (await import("./mcp/service.ts")).openMcpEndpoint(contract, mcpAddress, log)),
    tracing,
    tls,
    corsOrigins: corsOrigin,
  });
}

/** The metrics of an engine and of the service before it. The library is loaded here, for those who want it. */
export async function createMetrics(engine: ServedEngine): Promise<ServiceMetrics> {
  const { ServiceMetrics } = await import("./telemetry/metrics/service-metrics.ts");
  return new ServiceMetrics(engine, await readVersion());
}

/** Traces of this service. OpenTelemetry's libraries are loaded here, for those who want them. */
export async function createTracingFor(settings: TraceSettings): Promise<Tracing> {
  const { createTracing } = await import("./telemetry/traces/otlp-tracing.ts");
  return createTracing(settings, await readVersion());
}

/** The contract over an engine, without a web server. */
export async function createContractFor(engine: Engine, port?: number): Promise<Contract> {
  const document = atPort(await readJsonFile("generated/openapi.json"), port);
  return createContract({
    document,
    handlers,
    services: { engine, document, version: await readVersion(), clock: systemClock, modelNames: [] },
  });
}

/**
 * The dialects over an engine. Their validators are compiled when they are first needed.
 *
 * @param names further names of the model, by the name of the dialect
 */
export async function createDialectsFor(
  engine: Engine,
  port?: number,
  names: Readonly<Record<string, readonly string[]>> = {},
): Promise<readonly ServedDialect[]> {
  const version = await readVersion();
  return Promise.all(
    dialects.map(async ({ name, handlers, modelNames = [], ...rules }) => {
      const { basePath = "", maxBodyBytes, bareKeys, requestIdHeader } = rules;
      const document = atPort(await readJsonFile(`generated/${name}.json`), port, basePath);
      const services = {
        engine,
        document,
        version,
        clock: systemClock,
        modelNames: [...modelNames, ...(names[name] ?? [])],
      };
      const contract = await createContract({ document, handlers, services, rules, isLazy: true });
      return { name, basePath, contract, maxBodyBytes, bareKeys, requestIdHeader };
    }),
  );
}

/** A document with the port of this service: clients take its address from there. */
function atPort(
  document: Record<string, unknown>,
  port: number | undefined,
  basePath = "",
): Record<string, unknown> {
  if (!port || port === DEFAULT_PORT) return document;
  const server = { url: `http://127.0.0.1:${port}${basePath}`, description: "Where this service listens" };
  return { ...document, servers: [server] };
}

async function readVersion(): Promise<string> {
  return String((await readJsonFile("package.json")).version);
}

async function readJsonFile(name: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(path.join(packageRoot, name), "utf8"));
}
