import type { Socket } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Contract, InferenceFacts } from "../contract/call.ts";
import type { Clock } from "../inference/ports.ts";
import { queueErrors } from "../inference/queue/queue-errors.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { logAccess } from "./access-log.ts";
import { type Log, observe, unfailing } from "./log.ts";
import type { RequestListener, RequestRecord } from "./request-record.ts";
import { createKeyCheck, type KeyCheck } from "./routes/authorization.ts";
import { allowOrigins } from "./routes/cors.ts";
import { createHostCheck, createOriginCheck, type HostCheck } from "./routes/hosts.ts";
import { type OpenMcp, serveMcp } from "./routes/mcp.ts";
import { type MetricsPage, serveMetrics } from "./routes/metrics.ts";
import { type Admission, serveOperations } from "./routes/operations.ts";
import { serveDocumentation } from "./routes/pages/documentation.ts";
import { servePlayground } from "./routes/pages/playground.ts";
import { createQuickRefusal } from "./routes/quick-refusals.ts";
import { requestIdOf } from "./routes/request-id.ts";
import { answerUnknownRoutes, undecodablePath } from "./routes/unknown-routes.ts";
import { callersTraceId, type RequestTrace, type Tracing } from "./tracing.ts";
import { BodyBudget } from "./wire/body-budget.ts";
import { limitConnections } from "./wire/connection-limit.ts";
import { openExchange } from "./wire/connections.ts";
import { IdleConnections } from "./wire/idle-connections.ts";
import { isLingering } from "./wire/lingering.ts";
import {
  type ChosenWireLimits,
  createListener,
  type TlsFiles,
  type WireLimits,
  wireLimits,
} from "./wire/listener.ts";
import { messageFailure } from "./wire/message-rules.ts";
import { failureReply, finishHeaders, logFault, sendReply } from "./wire/replies.ts";
import { onClientError, onConnect, onTooManyConnections, wireReply } from "./wire/wire-failures.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** True after the shutdown signal. Every response then closes its connection. */
    isDraining: boolean;
  }
  interface FastifyRequest {
    /** Facts about each answer of the model: usually one, several for a batch of MCP. */
    inferences: InferenceFacts[];
    trace: RequestTrace | undefined;
    keyName: string | undefined;
  }
  interface FastifyContextConfig {
    operationId?: string;
    /** A second header that repeats x-request-id in responses. */
    requestIdHeader?: string;
  }
}

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
 *     socket -> Node's parser -> Host (403) -> route (404, 405) -> key (401) -> media type (422) -> size (413) -> queue (503) -> body -> contract.call
 *                   |        |
 *                   |        `-> full queue and no other fault: quick-refusals.ts
 *                   `-> broken HTTP, timeouts: wire-failures.ts
 */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const {
    contract,
    dialects = [],
    clock,
    limits,
    admission,
    tls,
    corsOrigins = [],
    allowedHosts = [],
    docs = true,
  } = options;
  const log = unfailing(options.log);
  const wire = { ...wireLimits(limits, limits.deadlineMs), ...options.wire };
  const checkKey = options.apiKey === undefined ? undefined : createKeyCheck(options.apiKey);
  const plain = { headChecks: { contract, checkKey, maxBodyBytes: limits.maxBodyBytes } };
  const contracts = [plain, ...dialects.map((dialect) => servedContract(dialect, checkKey, limits))];
  const onRequestEnd = (record: RequestRecord) => {
    logAccess(log, record);
    observe(log, "requests", () => options.onRequestEnd?.(record));
  };
  const app = Fastify({
    logger: false,
    genReqId: requestIdOf,
    // while the server closes, requests still get responses of the contract
    return503OnClosing: false,
    routerOptions: { querystringParser: () => ({}) },
    serverFactory: (listener) =>
      createListener(
        (request, response) => {
          // cross-origin requests go through Fastify, which adds the CORS headers; without them browsers hide the response
          const isCrossOrigin = corsOrigins.length > 0 && request.headers.origin !== undefined;
          if (isCrossOrigin || !isRefused(request, response)) listener(request, response);
        },
        wire,
        tls,
      ),
    clientErrorHandler: onClientError({ contract, log, limits: wire, onRequestEnd }),
    frameworkErrors: (_error, request, reply) => {
      // Fastify runs no hooks for a path that its router cannot decode: this does their work
      finishHeaders(request, reply);
      if (!isAccepted(request, reply, contract, checkHost)) return;
      void sendReply(reply, contract.errorReply(undecodablePath(request.raw.url ?? ""), request.id));
    },
  });
  const checkHostName = createHostCheck(app.server, allowedHosts);
  // with a key, only /mcp checks the host, because a page of another site does not have the key
  const checkHost: HostCheck = checkKey === undefined ? checkHostName : () => undefined;
  const isDraining = () => app.isDraining;
  const isRefused = createQuickRefusal({ contracts, admission, isDraining, onRequestEnd, checkHost });
  app.server.on("connect", onConnect(contract));
  const idle = new IdleConnections(app.server, clock);
  app.server.closeIdleConnections = () => idle.closeAll(); // Node.js calls it when the listener closes
  // before the TLS handshake, no HTTP response can be sent
  const refuseConnection =
    tls === undefined ? onTooManyConnections(contract) : (socket: Socket) => socket.destroy();
  limitConnections(app.server, wire.maxConnections, idle, refuseConnection);
  leaveBodiesAlone(app);
  app.decorate("isDraining", false);
  app.decorateRequest("trace", undefined);
  app.decorateRequest("keyName", undefined);
  app.decorateRequest("inferences");
  app.addHook("onRequest", (request, _reply, next) => {
    request.inferences = [];
    next();
  });
  const { tracing } = options;
  if (tracing !== undefined) {
    app.addHook("onRequest", (request, reply, next) => {
      observe(log, "tracing", () => {
        request.trace = tracing.begin(request.raw);
        reply.headers(request.trace.headers);
      });
      next();
    });
  }

  app.addHook("onRequest", (request, reply, next) => {
    if (isAccepted(request, reply, contract, checkHost)) next();
  });
  app.addHook("onSend", (request, reply, _payload, next) => {
    finishHeaders(request, reply);
    next();
  });
  app.addHook("onResponse", (request, reply, next) => {
    const record = {
      method: request.method,
      operation: request.routeOptions.config.operationId,
      status: reply.statusCode,
      ms: reply.elapsedTime,
      requestId: request.id,
      traceId: request.trace?.traceId ?? callersTraceId(request.raw),
      keyName: request.keyName,
      inferences: request.inferences,
    };
    observe(log, "tracing", () => request.trace?.end(record));
    onRequestEnd(record);
    next();
  });
  app.setErrorHandler((error, request, reply) => {
    const outgoing = failureReply(contract, error, request.id);
    logFault(log, outgoing, request);
    return sendReply(reply, outgoing);
  });
  answerUnknownRoutes(app, contract, docs ? servePlayground(app) : undefined);
  if (corsOrigins.length > 0) await allowOrigins(app, corsOrigins);

  const budget = new BodyBudget(limits.bodyMemoryBytes);
  const bodies = { ...limits, clock, budget };
  // admitted requests have been answered by then; the others are refused without waiting for the end of their bodies
  app.addHook("preClose", (done) => {
    budget.close(queueErrors.draining());
    done();
  });
  for (const { headChecks, ...others } of contracts) {
    const { contract, maxBodyBytes } = headChecks;
    serveOperations(app, {
      contract,
      headChecks,
      bodies: { ...bodies, maxBodyBytes },
      admission,
      log,
      ...others,
    });
  }
  if (options.openMcp) {
    const checkOrigin = createOriginCheck(allowedHosts, corsOrigins);
    const checkSender: HostCheck = (request) => checkHostName(request) ?? checkOrigin(request);
    serveMcp(app, options.openMcp, { contract, ...plain, bodies, admission, log, checkSender });
  }
  if (options.metrics !== undefined) serveMetrics(app, options.metrics);
  if (docs) serveDocumentation(app, contract.document, dialects, options.version);
  await app.ready();
  return app;
}

function servedContract(
  { contract, maxBodyBytes, bareKeys, requestIdHeader }: ServedDialect,
  checkKey: KeyCheck | undefined,
  limits: ServerLimits,
) {
  const headChecks = { contract, checkKey, maxBodyBytes: maxBodyBytes ?? limits.maxBodyBytes, bareKeys };
  return { headChecks, requestIdHeader };
}

/**
 * Declares that no method has a body, so that Fastify neither reads bodies nor applies its own size limit and media type
 * rules. src/server/wire/body.ts reads the stream after the checks of the headers.
 */
function leaveBodiesAlone(app: FastifyInstance): void {
  for (const method of app.supportedMethods)
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
}

/** Applies the rules of HTTP that do not depend on the route, and answers requests that violate them. @returns whether the request passes */
function isAccepted(
  request: FastifyRequest,
  reply: FastifyReply,
  contract: Contract,
  checkHost: HostCheck,
): boolean {
  const { raw } = request;
  if (isLingering(raw.socket)) {
    reply.hijack(); // came after a request whose response closes the connection: gets none
    return false;
  }
  openExchange(raw, reply.raw, request.id);
  const failure = messageFailure(raw);
  if (failure !== undefined) {
    sendReply(reply.header("connection", "close"), wireReply(contract, failure, request.id));
    return false;
  }
  const obstacle = checkHost(raw);
  if (obstacle === undefined) return true;
  sendReply(reply, contract.errorReply(obstacle, request.id));
  return false;
}
