import type { FastifyInstance } from "fastify";

/** Seconds for which a browser may cache a preflight response. Chosen: browsers cap it at two hours or less. */
const REMEMBERED_S = 600;

/**
 * Enables CORS: pages of other origins may call the service from a browser.
 *
 * @param origins such as `https://shop.example`; `*` for all
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  const { default: cors } = await import("@fastify/cors");
  await app.register(cors, {
    origin: origins.includes("*") ? "*" : [...origins],
    methods: ["GET", "HEAD", "POST"],
    allowedHeaders: ["authorization", "content-type", "x-request-id", "traceparent", "tracestate"],
    exposedHeaders: [
      "x-request-id",
      "retry-after",
      "server-timing",
      "traceparent",
      "x-decision-error",
      "x-decision-tuning",
      "x-decision-indistinct",
    ],
    maxAge: REMEMBERED_S,
  });
}
