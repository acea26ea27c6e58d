import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { createEngine } from "../engine.ts";
import { ServiceError } from "../errors.ts";
import { systemClock } from "../inference/clock.ts";
import { checkExposure, isLoopback } from "../options/exposure.ts";
import { completeOptions } from "../options/resolve.ts";
import type { ServiceOptions } from "../options/table.ts";
import type { Log } from "../server/log.ts";
import type { MetricsPage } from "../server/routes/metrics.ts";
import { installShutdown, type ProcessLike } from "../server/shutdown.ts";

/** Advice by the system's error code. */
const LISTEN_ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses this port; choose another with --port",
  EACCES: "this port is reserved for the system; choose one above 1023 with --port",
  EADDRNOTAVAIL: "this machine does not have this address; choose another with --host",
  ENOTFOUND: "this host name cannot be resolved; choose another with --host",
};
/** A shutdown waits for answers this much longer than a request's deadline. */
const DRAIN_SLACK_MS = 1_000;

export interface ServeParts {
  readonly apiKey: string | undefined;
  readonly log: Log;
  /** Its SIGTERM and SIGINT end the service in order, and then the process. */
  readonly process: ProcessLike;
}

/**
 * Serves until a signal ends the process.
 *
 * @returns once the model is loaded: its id and the address; undefined if a signal came before
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL | INTERNAL (the address cannot be listened on)
 */
export async function serve(
  given: Partial<ServiceOptions>,
  { apiKey, log, process }: ServeParts,
): Promise<{ readonly model: string; readonly url: string } | undefined> {
  const options = completeOptions(given);
  checkExposure(options, apiKey);
  log.info({ options, hasKey: apiKey !== undefined }, "options");
  const engine = await createEngine(options, (event, details) => log.warn(details, event));
  // the model loads while the web server starts; until then the server answers 503
  const started = engine.start();
  started.catch(() => {}); // awaited below
  let isStopping = () => false;
  try {
    const { createApp, createMetrics } = await import("../app.ts"); // meanwhile: the web server is large
    const serviceMetrics = options.metrics ? await createMetrics(engine) : undefined;
    const servesMetrics = serviceMetrics !== undefined && options.metricsPort === 0;
    const mcpAddress = mcpAddressOf(options);
    const server = await createApp(engine, {
      ...options,
      apiKey,
      log,
      serviceMetrics,
      servesMetrics,
      mcpAddress,
    });
    await listen(server, options);
    if (serviceMetrics !== undefined && !servesMetrics) await listenForMetrics(serviceMetrics, options);
    const drainMs = options.deadlineMs + DRAIN_SLACK_MS;
    installShutdown({ server, engine, log, clock: systemClock, drainMs, process });
    isStopping = () => server.isDraining;
    await started;
    return { model: engine.model.id, url: urlOf(server.server.address()) };
  } catch (error) {
    if (isStopping()) return undefined; // a signal arrived during the load; the shutdown ends the process
    await engine.close();
    throw error;
  }
}

/** A service that listens on the loopback alone refuses every other name: a page of another site may have been led to it. */
function mcpAddressOf({ mcp, host, mcpHost }: ServiceOptions) {
  const ownName = host.includes(":") ? `[${host}]` : host;
  return mcp ? { hosts: [ownName, ...mcpHost], isLocal: isLoopback(host) } : undefined;
}

async function listen(server: FastifyInstance, { host, port }: ServiceOptions): Promise<void> {
  try {
    await server.listen({ host, port });
  } catch (cause) {
    throw cannotListen(host, port, "--port", cause);
  }
}

/** The metrics are there until the process ends: also while it answers its last requests. */
async function listenForMetrics(metrics: MetricsPage, { host, metricsPort }: ServiceOptions): Promise<void> {
  const { createMetricsServer } = await import("../server/routes/metrics.ts");
  const server = createMetricsServer(metrics).listen(metricsPort, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw cannotListen(host, metricsPort, "--metrics-port", cause);
  }
}

function cannotListen(host: string, port: number, flag: string, cause: unknown): ServiceError {
  const reason = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
  const advice = (LISTEN_ADVICE[reason] ?? reason).replace("--port", flag);
  return new ServiceError("INTERNAL", `cannot listen on ${host} port ${port}: ${advice}.`, { cause });
}

function urlOf(address: string | AddressInfo | null): string {
  if (address === null || typeof address === "string") return String(address);
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
