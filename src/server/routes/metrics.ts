import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { FastifyPluginCallback } from "fastify";
import type { OutgoingReply } from "../../contract/call.ts";
import { errorReply } from "../../contract/error-reply.ts";
import { ServiceError } from "../../errors.ts";
import { requestIdOf } from "../wire/messages.ts";
import { COMMON_HEADERS } from "../wire/replies.ts";
import { createHostCheck } from "./head-checks.ts";
import { unknownPath } from "./unknown-routes.ts";

/** The content of /metrics. */
export interface MetricsPage {
  /** @param accept the request's Accept header, which selects one of the two text formats */
  write(accept: string | undefined): Promise<MetricsText>;
}

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

const PATH = "/metrics";
const PROBES = ["/health", "/ready", "/livez"];

/** The metrics, on the port of the operations. */
export const metricsPage: FastifyPluginCallback<{ readonly metrics: MetricsPage }> = (
  app,
  { metrics },
  done,
) => {
  app.get(PATH, { config: { operationId: "getMetrics" } }, async (request, reply) => {
    const { contentType, text } = await metrics.write(request.headers.accept);
    // as bytes: for a string, Fastify would rewrite the parameters of the content type
    return reply.header("content-type", contentType).send(Buffer.from(text, "utf8"));
  });
  done();
};

/**
 * A server for the metrics and the health of the service. It does not listen yet. It accepts connections beside the many
 * that may wait at the port of the operations under overload.
 *
 * @param service      answers the paths of health
 * @param allowedHosts as of the service, if it has no key; undefined if it has one
 */
export function createMetricsServer(
  metrics: MetricsPage,
  service: RequestListener,
  allowedHosts?: readonly string[],
): Server {
  const server = createServer((request, response) => {
    if (PROBES.includes(pathOf(request))) {
      service(request, response);
      return;
    }
    const requestId = requestIdOf(request);
    const send = ({ status, headers, body }: OutgoingReply): void => {
      const length = { "content-length": Buffer.byteLength(body) };
      response.writeHead(status, { ...COMMON_HEADERS, "x-request-id": requestId, ...headers, ...length });
      response.end(body);
    };
    const obstacle = checkHost(request) ?? routeFailure(request);
    if (obstacle !== undefined) {
      const reply = errorReply(obstacle, requestId);
      const isMethod = obstacle.kind === "METHOD_NOT_ALLOWED";
      send(isMethod ? { ...reply, headers: { ...reply.headers, allow: "GET, HEAD" } } : reply);
      return;
    }
    metrics.write(request.headers.accept).then(
      ({ contentType, text }) => send({ status: 200, headers: { "content-type": contentType }, body: text }),
      (error: unknown) => send(errorReply(error, requestId)),
    );
  });
  const checkHost = allowedHosts === undefined ? () => undefined : createHostCheck(server, allowedHosts);
  return server;
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "";
}

function routeFailure(request: IncomingMessage): ServiceError | undefined {
  const { method, url = "" } = request;
  if (pathOf(request) !== PATH) return unknownPath(url, (path) => [PATH, ...PROBES].includes(path));
  if (method === "GET" || method === "HEAD") return undefined;
  return new ServiceError("METHOD_NOT_ALLOWED", "Expected one of the methods GET, HEAD, got another.");
}
