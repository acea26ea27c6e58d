import type { Socket } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Contract, InferenceFacts } from "../contract/call.ts";
import type { Clock } from "../inference/ports.ts";
import { queueErrors } from "../inference/queue/queue-errors.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { logAccess } from "./access-log.ts";
import type { Log } from "./log.ts";
import type { RequestListener, RequestRecord } from "./request-record.ts";
import { createKeyCheck, type KeyCheck } from "./routes/authorization.ts";
import { allowOrigins } from "./routes/cors.ts";
import { serveDocs } from "./routes/docs.ts";
import { type OpenMcp, serveMcp } from "./routes/mcp.ts";
import { type MetricsPage, serveMetrics } from "./routes/metrics.ts";
import { type Admission, serveOperations } from "./routes/operations.ts";
import { servePlayground } from "./routes/playground.ts";
import { createQuickRefusal } from "./routes/quick-refusals.ts";
import { serveRedoc } from "./routes/redoc.ts";
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
import { Pacer } from "./wire/pacer.ts";
import { failureReply, finishHeaders, logFault, sendReply } from "./wire/replies.ts";
import { onClientError, onConnect, onTooManyConnections, wireReply } from "./wire/wire-failures.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** True from the shutdown signal on: every response then closes its connection. */
    isDraining: boolean;
  }
  interface FastifyRequest {
    /** What the model's answer took, once it is there. */
    inference: InferenceFacts | undefined;
    trace: RequestTrace | undefined;
    keyName: string | undefined;
  }
  interface FastifyContextConfig {
    operationId?: string;
    /** A second name of the header x-request-id in the answers. */
    requestIdHeader?: string;
  }
}

export interface ServerLimits extends ChosenWireLimits {
  /** Of one request. */
  readonly maxBodyBytes: number;
  /** Of all requests under way. */
  readonly bodyMemoryBytes: number;
  /** From a request's headers to the end of its body. */
  readonly deadlineMs: number;
}

/** A contract that is served beside the plain one, with what sets its routes apart. */
export interface ServedDialect {
  /** Its document is shown at /docs/contracts/NAME.json. */
  readonly name: string;
  readonly basePath: string;
  readonly contract: Contract;
  /** Decoded; undefined: as in the plain contract. */
  readonly maxBodyBytes: number | undefined;
  readonly bareKeys: readonly string[] | undefined;
  readonly requestIdHeader: string | undefined;
}

export interface ServerOptions {
  readonly contract: Contract;
  readonly dialects?: readonly ServedDialect[];
  /** The service's version, for the documentation's title. */
  readonly version: string;
  /** Undefined: the inference routes are open. */
  readonly apiKey?: string | KeyRing | undefined;
  readonly log: Log;
  /** Tells when a request arrived. */
  readonly clock: Clock;
  readonly limits: ServerLimits;
  /** Asked before a body is read, and told of each request with a 503 or 504 that never came to the queue. */
  readonly admission: Admission;
  /** Told of each request that has its answer. */
  readonly onRequestEnd?: RequestListener | undefined;
  /** Undefined: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** Undefined: there is no /metrics. */
  readonly metrics?: MetricsPage | undefined;
  /** Undefined: there is no /mcp. */
  readonly openMcp?: OpenMcp | undefined;
  readonly wire?: Partial<WireLimits>;
  /** Undefined: plain HTTP. */
  readonly tls?: TlsFiles | undefined;
  /** Whose pages may call from a browser; `*` for all. */
  readonly corsOrigins?: readonly string[];
}

/**
 * The web server over a contract. It never listens by itself.
 *
 *     socket -> Node's parser -> route (404, 405) -> key (401) -> media type (422) -> size (413) -> queue (503) -> body -> contract.call
 *                   |        |
 *                   |        `-> full queue, nothing else to be said: quick-refusals.ts
 *                   `-> broken HTTP, timeouts: wire-failures.ts
 */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { contract, dialects = [], log, clock, limits, admission, tls, corsOrigins = [] } = options;
  const wire = { ...wireLimits(limits, limits.deadlineMs), ...options.wire };
  const checkKey = options.apiKey === undefined ? undefined : createKeyCheck(options.apiKey);
  const plain = { headChecks: { contract, checkKey, maxBodyBytes: limits.maxBodyBytes } };
  const contracts = [plain, ...dialects.map((dialect) => servedContract(dialect, checkKey, limits))];
  const onRequestEnd = (record: RequestRecord) => {
    logAccess(log, record);
    options.onRequestEnd?.(record);
  };
  const isDraining = () => app.isDraining;
  const pacer = new Pacer(() => admission.fullQueue() !== undefined);
  const isRefused = createQuickRefusal({ contracts, admission, pacer, isDraining, onRequestEnd });
  const app = Fastify({
    logger: false,
    genReqId: requestIdOf,
    // While it closes, requests still get the contract's own answers.
    return503OnClosing: false,
    routerOptions: { querystringParser: () => ({}) },
    serverFactory: (listener) =>
      createListener(
        (request, response) => {
          // a page of another origin is told by Fastify, with the headers without which its browser hides the answer
          const isCrossOrigin = corsOrigins.length > 0 && request.headers.origin !== undefined;
          if (isCrossOrigin || !isRefused(request, response)) listener(request, response);
        },
        wire,
        tls,
      ),
    clientErrorHandler: onClientError({ contract, log, limits: wire, onRequestEnd }),
    frameworkErrors: (_error, request, reply) => {
      // No hook runs for a path that the router cannot read: what they do is done here.
      finishHeaders(request, reply);
      if (!isAccepted(request, reply, contract)) return;
      void sendReply(reply, contract.errorReply(undecodablePath(request.raw.url ?? ""), request.id));
    },
  });
  app.server.on("connect", onConnect(contract)).on("connection", () => pacer.noteConnection());
  const idle = new IdleConnections(app.server, clock);
  app.server.closeIdleConnections = () => idle.closeAll(); // Node calls it when the listener closes
  // nothing can be said on a connection whose keys are not agreed yet
  const refuseConnection =
    tls === undefined ? onTooManyConnections(contract) : (socket: Socket) => socket.destroy();
  limitConnections(app.server, wire.maxConnections, idle, refuseConnection);
  leaveBodiesAlone(app);
  app.decorate("isDraining", false);
  app.decorateRequest("inference", undefined);
  app.decorateRequest("trace", undefined);
  app.decorateRequest("keyName", undefined);
  const { tracing } = options;
  if (tracing !== undefined) {
    app.addHook("onRequest", (request, reply, next) => {
      request.trace = tracing.begin(request.raw);
      reply.headers(request.trace.headers);
      next();
    });
  }

  app.addHook("onRequest", (request, reply, next) => {
    if (isAccepted(request, reply, contract)) next();
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
      inference: request.inference,
    };
    request.trace?.end(record);
    onRequestEnd(record);
    next();
  });
  app.setErrorHandler((error, request, reply) => {
    const outgoing = failureReply(contract, error, request.id);
    logFault(log, outgoing, request);
    return sendReply(reply, outgoing);
  });
  answerUnknownRoutes(app, contract, await servePlayground(app));
  if (corsOrigins.length > 0) await allowOrigins(app, corsOrigins);

  const budget = new BodyBudget(limits.bodyMemoryBytes);
  const bodies = { ...limits, clock, budget };
  // Whoever was let in has its answer by then. The others need not end their bodies to be told.
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
      pacer,
      log,
      ...others,
    });
  }
  if (options.openMcp) serveMcp(app, options.openMcp, { contract, ...plain, bodies, admission, pacer, log });
  if (options.metrics !== undefined) serveMetrics(app, options.metrics);
  await serveDocs(app, contract.document, dialects, options.version);
  await serveRedoc(app, dialects, options.version);
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
 * Declares every method as one without a body, so that Fastify's own reading, size limit and media type rules never
 * answer: src/server/wire/body.ts reads the stream, after the checks that come first.
 */
function leaveBodiesAlone(app: FastifyInstance): void {
  for (const method of app.supportedMethods)
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
}

/** What HTTP demands of every request before anybody looks at its route; answers those that it refuses. */
function isAccepted(request: FastifyRequest, reply: FastifyReply, contract: Contract): boolean {
  const { raw } = request;
  if (isLingering(raw.socket)) {
    reply.hijack(); // sent after the request whose answer was this connection's last
    return false;
  }
  openExchange(raw, reply.raw, request.id);
  const failure = messageFailure(raw);
  if (failure === undefined) return true;
  sendReply(reply.header("connection", "close"), wireReply(contract, failure, request.id));
  return false;
}
