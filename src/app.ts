import type { FastifyInstance } from "fastify";
import { dialects } from "../handlers/dialects.ts";
import { handlers } from "../handlers/index.ts";
import type { Contract, Services } from "./contract/call.ts";
import { createContract } from "./contract/contract.ts";
import { REQUEST_LIMITS } from "./decisions/request.ts";
import { systemClock } from "./inference/clock.ts";
import type { Engine, ServedEngine } from "./inference/engine.ts";
import type { KeyRing } from "./keys/key-ring.ts";
import type { ServiceOptions } from "./options/table.ts";
import { readPackageJson } from "./package-root.ts";
import type { Log } from "./server/log.ts";
import type { Tracing } from "./server/request-record.ts";
import { createServer, type ServedDialect } from "./server/server.ts";
import type { TlsFiles } from "./server/wire/listener.ts";
import type { ServiceMetrics } from "./telemetry/metrics/service-metrics.ts";
import type { TraceSettings } from "./telemetry/traces/trace-settings.ts";

export interface AppOptions
  extends Pick<ServiceOptions, "maxConnections" | "headersTimeoutMs" | "bodyMemoryMb">,
    Partial<Pick<ServiceOptions, "typesafeAlias" | "docs">> {
  readonly apiKey?: string | KeyRing | undefined;
  readonly log: Log;
  /** Metrics of requests. Undefined: nothing is measured. */
  readonly serviceMetrics?: ServiceMetrics | undefined;
  /** Whether this server serves them at /metrics. */
  readonly servesMetrics?: boolean;
  /** Whether to serve MCP. */
  readonly mcp?: boolean;
  /** Host names of this service, besides those of the loopback. */
  readonly allowedHost?: readonly string[];
  /** Undefined: tracing is off. */
  readonly tracing?: Tracing | undefined;
  /** Undefined: plain HTTP. */
  readonly tls?: TlsFiles | undefined;
  readonly corsOrigin?: readonly string[];
  /** Whether to serve /v1/explain. */
  readonly explain?: boolean;
}

/** The web server of an engine. It does not listen yet. */
export async function createApp(
  engine: ServedEngine,
  {
    apiKey,
    log,
    maxConnections,
    headersTimeoutMs,
    bodyMemoryMb,
    typesafeAlias = [],
    docs = true,
    mcp = false,
    allowedHost = [],
    serviceMetrics,
    servesMetrics = serviceMetrics !== undefined,
    tracing,
    tls,
    corsOrigin = [],
    explain = false,
  }: AppOptions,
): Promise<FastifyInstance> {
  const [contract, served] = await Promise.all([
    createContractFor(engine, keyCheckOf(apiKey)),
    createDialectsFor(engine, { names: { typesafe: typesafeAlias }, withOptional: explain }),
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
    // the protocol's SDK is imported at its first request, so that it costs other users neither time nor memory
    openMcp: mcp ? async () => (await import("./mcp/service.ts")).openMcpEndpoint(contract, log) : undefined,
    tracing,
    tls,
    corsOrigins: corsOrigin,
    allowedHosts: allowedHost,
    docs,
  });
}

/** Whether the keys are those of their file; undefined without a file. */
function keyCheckOf(keys: string | KeyRing | undefined): Services["areKeysCurrent"] {
  return typeof keys === "object" ? () => keys.isCurrent : undefined;
}

/** The metrics of an engine and its service. Imports the library on demand. */
export async function createMetrics(
  engine: ServedEngine,
  log?: Log,
  apiKey?: AppOptions["apiKey"],
): Promise<ServiceMetrics> {
  const { ServiceMetrics } = await import("./telemetry/metrics/service-metrics.ts");
  const areKeysCurrent = keyCheckOf(apiKey);
  return new ServiceMetrics(engine, await readVersion(), {
    lostLines: () => log?.lostLines?.() ?? 0,
    areKeysCurrent: () => areKeysCurrent?.() ?? true,
  });
}

/** Traces of this service. Imports OpenTelemetry's libraries on demand. */
export async function createTracingFor(settings: TraceSettings, log: Pick<Log, "warn">): Promise<Tracing> {
  const { createTracing } = await import("./telemetry/traces/otlp-tracing.ts");
  for (const warning of settings.warnings) log.warn({}, warning);
  return createTracing(settings, await readVersion(), (message, err) => log.warn({ err }, message));
}

/** The contract over an engine, without a web server. */
export async function createContractFor(
  engine: Engine,
  areKeysCurrent?: Services["areKeysCurrent"],
): Promise<Contract> {
  const document = await readPackageJson("generated/openapi.typed.json");
  const plainDocument = await readPackageJson("generated/openapi.json");
  const version = await readVersion();
  const own = { version, clock: systemClock, modelNames: [], areKeysCurrent };
  const services = { engine, document, plainDocument, ...own };
  return createContract({ document, handlers, services });
}

/** The contract of explanations over an engine. */
export async function createExplainContractFor(engine: Engine): Promise<Contract> {
  const served = await createDialectsFor(engine, { withOptional: true });
  const found = served.find(({ name }) => name === "explain");
  if (found === undefined) throw new Error("the document of explanations is missing");
  return found.contract;
}

interface DialectOptions {
  readonly names?: Readonly<Record<string, readonly string[]>>;
  readonly withOptional?: boolean;
}

/**
 * The dialects over an engine. Their validators are compiled when they are first needed.
 *
 * @param options.names        further names of the model, by the name of the dialect
 * @param options.withOptional with those that operators must ask for
 */
export async function createDialectsFor(
  engine: Engine,
  { names = {}, withOptional = false }: DialectOptions = {},
): Promise<readonly ServedDialect[]> {
  const version = await readVersion();
  const served = dialects.filter(({ isOptional }) => withOptional || !isOptional);
  return Promise.all(
    served.map(async ({ name, handlers, modelNames = [], isOptional: _, ...rules }) => {
      const { basePath = "", maxBodyBytes, bareKeys, requestIdHeader } = rules;
      const document = await readPackageJson(`generated/${name}.json`);
      const services = {
        engine,
        document,
        plainDocument: document,
        version,
        clock: systemClock,
        modelNames: [...modelNames, ...(names[name] ?? [])],
      };
      const contract = await createContract({ document, handlers, services, rules, isLazy: true });
      return { name, basePath, contract, maxBodyBytes, bareKeys, requestIdHeader };
    }),
  );
}

async function readVersion(): Promise<string> {
  return String((await readPackageJson("package.json")).version);
}
