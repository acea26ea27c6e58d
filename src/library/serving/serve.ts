import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { createEngine, type EngineCore } from "../../engine.ts";
import { codeOf, ServiceError } from "../../errors.ts";
import { systemClock } from "../../inference/clock.ts";
import { checkAddresses, checkExposure, checkTraces } from "../../options/exposure.ts";
import { completeOptions } from "../../options/resolve.ts";
import type { ServiceOptions } from "../../options/table.ts";
import { type Log, unfailing } from "../../server/log.ts";
import type { Tracing } from "../../server/request-record.ts";
import type { MetricsPage } from "../../server/routes/metrics.ts";
import { installShutdown, type ProcessLike } from "../../server/shutdown.ts";
import { connectionsWithin, mostOpenFiles } from "../../server/wire/listener.ts";
import { socketUrl } from "../../service-address.ts";
import type { TraceSettings } from "../../telemetry/traces/trace-settings.ts";
import { listenOnPassedSocket, listenOnSocket } from "./listen-on-socket.ts";
import { keyRingOf, readTls, reloadOnChange } from "./reloaded-files.ts";

/** Advice by system error code. */
const LISTEN_ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses this port; choose another with --port",
  EACCES: "this port is reserved for the system; choose one above 1023 with --port",
  EADDRNOTAVAIL: "this machine does not have this address; choose another with --host",
  ENOTFOUND: "this host name cannot be resolved; choose another with --host",
};
/** A shutdown waits for answers this much longer than a request's deadline. Chosen: time to send the last ones. */
const DRAIN_SLACK_MS = 1_000;

export interface ServeParts {
  readonly apiKey: string | undefined;
  /** Token for the server at `remoteUrl`. */
  readonly remoteToken?: string | undefined;
  /** The trace collector; undefined disables tracing. */
  readonly traces?: TraceSettings | undefined;
  readonly log: Log;
  /** Whether to listen on the socket passed by systemd. */
  readonly hasPassedSocket?: boolean;
  /** Its SIGTERM and SIGINT shut the service down and then end the process; SIGHUP reloads keys and certificates. */
  readonly process: ProcessLike;
}

/**
 * Serves until a signal ends the process.
 *
 * @returns the model's id and the address, once the model is loaded; undefined if a signal came first
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL | INTERNAL (the address cannot be listened on)
 */
export async function serve(
  given: Partial<ServiceOptions>,
  { apiKey, remoteToken, traces, log: givenLog, hasPassedSocket = false, process }: ServeParts,
): Promise<{ readonly model: string; readonly url: string } | undefined> {
  const log = unfailing(givenLog);
  let reload = () => {};
  // also without files to reload: the signal would end the process, and a closed terminal or a log rotation sends it
  process.on("SIGHUP", () => reload());
  const options = completeOptions(given);
  checkExposure(options, apiKey);
  checkAddresses(options);
  checkTraces(options, traces?.endpoint);
  log.info({ options, hasKey: apiKey !== undefined }, "options");
  const keys = keyRingOf(options, apiKey);
  const tls = readTls(options);
  const allowedHost = [options.host, ...options.allowedHost].map((name) => name.toLowerCase());
  const engine = await createEngine(options, (event, details) => log.warn(details, event), { remoteToken });
  // the model loads while the web server starts; until then the server answers 503
  const started = engine.start();
  started.catch(() => {}); // awaited below
  let isStopping = () => false;
  try {
    const { createApp, createMetrics, createTracingFor } = await import("../../app.ts"); // loads in parallel, because the web server is large
    const serviceMetrics = options.metrics ? await createMetrics(engine, log, keys) : undefined;
    const servesMetrics = serviceMetrics !== undefined && options.metricsPort === 0;
    const tracing = traces && (await createTracingFor(traces, log));
    const server = await createApp(engine, {
      ...options,
      maxConnections: connectionsOf(options, log),
      apiKey: keys,
      tls,
      log,
      serviceMetrics,
      servesMetrics,
      tracing,
      allowedHost,
    });
    if (hasPassedSocket) {
      await started; // new connections wait in the socket's backlog
      await listenOnPassedSocket(server, options, apiKey);
    } else await listen(server, options);
    reload = reloadOnChange({ options, keys, server, log });
    if (serviceMetrics !== undefined && !servesMetrics)
      await listenForMetrics(serviceMetrics, server, options, keys === undefined ? allowedHost : undefined);
    const drainMs = options.deadlineMs + DRAIN_SLACK_MS;
    const closed = { drain: () => engine.drain(), close: () => closeAll(engine, tracing) };
    installShutdown({ server, engine: closed, log, clock: systemClock, drainMs, process });
    isStopping = () => server.isDraining;
    await started;
    return { model: engine.model.id, url: urlOf(server.server.address(), tls !== undefined) };
  } catch (error) {
    if (isStopping()) return undefined; // a signal arrived during the load; the shutdown ends the process
    await engine.close();
    throw error;
  }
}

/** Closes the engine while the last spans are sent. */
async function closeAll(engine: EngineCore, tracing: Tracing | undefined): Promise<void> {
  await Promise.all([engine.close(), tracing?.close().catch(() => {})]);
}

/** Fewer connections than asked for, rather than connections that the system resets. */
function connectionsOf({ maxConnections }: ServiceOptions, log: Log): number {
  const openFiles = mostOpenFiles();
  const most = connectionsWithin(openFiles);
  if (most >= maxConnections) return maxConnections;
  log.warn(
    { openFiles, maxConnections: most },
    "the limit of open files (ulimit -n) lowers --max-connections",
  );
  return most;
}

async function listen(server: FastifyInstance, { host, port, socket }: ServiceOptions): Promise<void> {
  if (socket !== "") {
    await listenOnSocket(server, socket);
    return;
  }
  try {
    await server.listen({ host, port });
  } catch (cause) {
    throw cannotListen(host, port, "--port", cause);
  }
}

/** Serves metrics and health until the process ends, also during the shutdown. */
async function listenForMetrics(
  metrics: MetricsPage,
  service: FastifyInstance,
  { host, metricsPort }: ServiceOptions,
  allowedHosts: readonly string[] | undefined,
): Promise<void> {
  const { createMetricsServer } = await import("../../server/routes/metrics.ts");
  const answer = (request: IncomingMessage, response: ServerResponse) => service.routing(request, response);
  const server = createMetricsServer(metrics, answer, allowedHosts).listen(metricsPort, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw cannotListen(host, metricsPort, "--metrics-port", cause);
  }
}

function cannotListen(host: string, port: number, flag: string, cause: unknown): ServiceError {
  const reason = codeOf(cause) ?? String(cause);
  const advice = (LISTEN_ADVICE[reason] ?? reason).replace("--port", flag);
  return new ServiceError("INTERNAL", `cannot listen on ${host} port ${port}: ${advice}.`, { cause });
}

function urlOf(address: string | AddressInfo | null, isSecure: boolean): string {
  const scheme = isSecure ? "https" : "http";
  if (address === null || typeof address === "string") return socketUrl(scheme, address ?? "");
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return `${scheme}://${host}:${address.port}`;
}
