import Fastify, { type FastifyInstance } from "fastify";
import type { Contract } from "../contract/call.ts";
import type { Clock } from "../inference/clock.ts";
import { queueErrors } from "../inference/queue/ticket.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { type Log, observe, unfailing } from "./log.ts";
import {
  logAccess,
  type RequestListener,
  type RequestRecord,
  requestRecords,
  type Tracing,
  traces,
} from "./request-record.ts";
import { crossOrigin } from "./routes/cors.ts";
import {
  answerUndecodable,
  createHostCheck,
  createKeyCheck,
  createOriginCheck,
  type HeadCheckOptions,
  type HostCheck,
  httpRules,
} from "./routes/head-checks.ts";
import { mcp, type OpenMcp } from "./routes/mcp.ts";
import { type MetricsPage, metricsPage } from "./routes/metrics.ts";
import { type Admission, operations } from "./routes/operations.ts";
import { documentation } from "./routes/pages/documentation.ts";
import { createQuickRefusal } from "./routes/quick-refusals.ts";
import { unknownRoutes } from "./routes/unknown-routes.ts";
import { BodyBudget } from "./wire/bodies.ts";
import { Connections } from "./wire/connections.ts";
import {
  type ChosenWireLimits,
  createListener,
  type TlsFiles,
  type WireLimits,
  wireLimits,
} from "./wire/listener.ts";
import { requestIdOf } from "./wire/messages.ts";
import { onClientError, onConnect, onTooManyConnections } from "./wire/wire-failures.ts";

export interface ServerLimits extends ChosenWireLimits {
  /** Maximum body size of a request. */
  readonly maxBodyBytes: number;
  /** Maximum bytes of the bodies of all requests in progress. */
  readonly bodyMemoryBytes: number;
  /** Maximum time from a request's headers to the end of its body. */
  readonly deadlineMs: number;
}

/** A dialect with the options of its routes. */
export interface ServedDialect {
  /** Its document is served at /docs/contracts/NAME.json. */
  readonly name: string;
  readonly basePath: string;
  readonly contract: Contract;
  /** Maximum size of decoded bodies. Undefined: as in the plain contract. */
  readonly maxBodyBytes: number | undefined;
  readonly bareKeys: readonly string[] | undefined;
  readonly requestIdHeader: string | undefined;
}

export interface ServerOptions {
  readonly contract: Contract;
  readonly dialects?: readonly ServedDialect[];
  /** Whether to serve the playground and the documentation for people. */
  readonly docs?: boolean;
  /** The service's version, shown by the documentation. */
  readonly version: string;
  /** Undefined: the inference routes need no key. */
  readonly apiKey?: string | KeyRing | undefined;
  readonly log: Log;
  /** Clock of the arrival times of requests. */
  readonly clock: Clock;
  readonly limits: ServerLimits;
  /** Checked before a body is read. Counts requests that get 503 or 504 before they reach the queue. */
  readonly admission: Admission;
  /** Called when a request has been answered. */
  readonly onRequestEnd?: RequestListener | undefined;
  /** Undefined: tracing is off. */
  readonly tracing?: Tracing | undefined;
  /** Undefined: there is no /metrics. */
  readonly metrics?: MetricsPage | undefined;
  /** Undefined: there is no /mcp. */
  readonly openMcp?: OpenMcp | undefined;
  readonly wire?: Partial<WireLimits>;
  /** Undefined: plain HTTP. */
  readonly tls?: TlsFiles | undefined;
  /** Host names, besides those of the loopback, that requests may name where the service has no key. */
  readonly allowedHosts?: readonly string[];
  /** Origins whose pages may call from a browser; `*` for all. */
  readonly corsOrigins?: readonly string[];
}

/**
 * The web server over a contract. It never listens by itself.
 *
 *     socket -> Node's parser -> Host (403) -> route (404, 405) -> key (401) -> media type (422) -> size (413) -> body -> contract.call -> queue (503)
 *                   |        |
 *                   |        `-> full queue and no other fault: quick-refusals.ts
 *                   `-> broken HTTP, timeouts: wire-failures.ts
 */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { contract, dialects = [], clock, limits, admission, tls, tracing } = options;
  const { corsOrigins = [], allowedHosts = [], docs = true, metrics, openMcp } = options;
  const log = unfailing(options.log);
  const wire = { ...wireLimits(limits, limits.deadlineMs), ...options.wire };
  const [plain, ...others] = servedContracts(options);
  const contracts = [plain, ...others];
  const onRequestEnd = (record: RequestRecord) => {
    logAccess(log, record);
    observe(log, "requests", () => options.onRequestEnd?.(record));
  };
  const connections = new Connections();
  const app = Fastify({
    logger: false,
    genReqId: (request) => connections.exchangeOf(request)?.requestId ?? requestIdOf(request),
    // while the server closes, requests still get responses of the contract
    return503OnClosing: false,
    routerOptions: { querystringParser: () => ({}) },
    serverFactory: (listener) => {
      const server = createListener(
        (request, response) => {
          const exchange = connections.open(request, response);
          if (exchange === undefined) return;
          // cross-origin requests go through Fastify, which adds the CORS headers; without them browsers hide the response
          const isCrossOrigin = corsOrigins.length > 0 && request.headers.origin !== undefined;
          if (isCrossOrigin || !isRefused(exchange)) listener(request, response);
        },
        wire,
        tls,
      );
      const refuse = onTooManyConnections({ contract, connections });
      return connections
        .watch(server, wire.maxConnections, refuse)
        .on("connect", onConnect({ contract, connections }));
    },
    clientErrorHandler: onClientError({ contract, connections, log, limits: wire, onRequestEnd }),
    frameworkErrors: (_error, request, reply) => answerUndecodable(request, reply, { contract, checkHost }),
  });
  const checkHostName = createHostCheck(app.server, allowedHosts);
  // with a key, only /mcp checks the host, because a page of another site does not have the key
  const checkHost: HostCheck = options.apiKey === undefined ? checkHostName : () => undefined;
  const isDraining = () => app.isDraining;
  const isRefused = createQuickRefusal({
    contracts,
    connections,
    admission,
    isDraining,
    onRequestEnd,
    checkHost,
  });
  leaveBodiesAlone(app);
  app.decorate("isDraining", false);
  app.decorate("connections", connections);

  if (tracing !== undefined) app.register(traces, { tracing, log });
  app.register(requestRecords, { onRequestEnd });
  app.register(httpRules, { contract, checkHost, log });
  app.register(unknownRoutes, { contract, hasPages: docs });
  if (corsOrigins.length > 0) app.register(crossOrigin, { origins: corsOrigins });

  const budget = new BodyBudget(limits.bodyMemoryBytes);
  // admitted requests have been answered by then; the others are refused without waiting for the end of their bodies
  app.addHook("preClose", (done) => {
    budget.close(queueErrors.draining());
    done();
  });
  const operationsOf = ({ headChecks, requestIdHeader }: ServedContract) => {
    const { contract, maxBodyBytes } = headChecks;
    const bodies = { ...limits, clock, budget, maxBodyBytes };
    return { contract, headChecks, requestIdHeader, bodies, admission, log };
  };
  for (const served of contracts) app.register(operations, operationsOf(served));
  if (openMcp !== undefined) {
    const checkOrigin = createOriginCheck(allowedHosts, corsOrigins);
    const checkSender: HostCheck = (request) => checkHostName(request) ?? checkOrigin(request);
    app.register(mcp, { ...operationsOf(plain), open: openMcp, checkSender });
  }
  if (metrics !== undefined) app.register(metricsPage, { metrics });
  if (docs) app.register(documentation, { document: contract.document, dialects, version: options.version });
  await app.ready();
  return app;
}

interface ServedContract {
  readonly headChecks: HeadCheckOptions;
  readonly requestIdHeader: string | undefined;
}

/** The plain contract, then the dialects. */
function servedContracts(options: ServerOptions): readonly [ServedContract, ...ServedContract[]] {
  const { contract, dialects = [], apiKey, limits } = options;
  const checkKey = apiKey === undefined ? undefined : createKeyCheck(apiKey);
  const { maxBodyBytes } = limits;
  return [
    { headChecks: { contract, checkKey, maxBodyBytes }, requestIdHeader: undefined },
    ...dialects.map(({ contract, bareKeys, requestIdHeader, maxBodyBytes: own = maxBodyBytes }) => ({
      headChecks: { contract, checkKey, maxBodyBytes: own, bareKeys },
      requestIdHeader,
    })),
  ];
}

/**
 * Declares that no method has a body, so that Fastify neither reads bodies nor applies its own size limit and media type
 * rules. src/server/wire/bodies.ts reads the stream after the checks of the headers.
 */
function leaveBodiesAlone(app: FastifyInstance): void {
  for (const method of app.supportedMethods)
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
}
