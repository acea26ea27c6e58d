import { createServer, type Server } from "node:http";
import type { FastifyInstance } from "fastify";

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

/** Serves the metrics on the port of the operations. */
export function serveMetrics(app: FastifyInstance, metrics: MetricsPage): void {
  app.get(PATH, { config: { operationId: "getMetrics" } }, async (request, reply) => {
    const { contentType, text } = await metrics.write(request.headers.accept);
    // as bytes: for a string, Fastify would rewrite the parameters of the content type
    return reply.header("content-type", contentType).send(Buffer.from(text, "utf8"));
  });
}

/** A server for the metrics alone. It does not listen yet. */
export function createMetricsServer(metrics: MetricsPage): Server {
  return createServer((request, response) => {
    const [path] = (request.url ?? "").split("?");
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (path !== PATH || !isRead) {
      const [status, detail] =
        path === PATH ? [405, `This path allows GET, HEAD.`] : [404, `This path does not exist.`];
      const allow = status === 405 ? { allow: "GET, HEAD" } : {};
      response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...allow });
      response.end(JSON.stringify({ detail }));
      return;
    }
    metrics.write(request.headers.accept).then(
      ({ contentType, text }) => {
        response.writeHead(200, { "content-type": contentType, "content-length": Buffer.byteLength(text) });
        response.end(text);
      },
      () => response.destroy(),
    );
  });
}
