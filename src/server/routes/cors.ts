import fastifyPlugin from "fastify-plugin";

/** Seconds for which a browser may cache a preflight response. Chosen: browsers cap it at two hours or less. */
const REMEMBERED_S = 600;

/** Headers of responses that pages may read. */
const EXPOSED = [
  "allow",
  "mcp-protocol-version",
  "mcp-session-id",
  "retry-after",
  "server-timing",
  "traceparent",
  "www-authenticate",
  "x-cut-documents",
  "x-decision-error",
  "x-decision-indistinct",
  "x-decision-tuning",
  "x-request-id",
  "x-typesafe-request-id",
];

/**
 * CORS: pages of other origins may call the service from a browser, with any headers, because each SDK has some of its own.
 * Responses to all other pages have no headers of CORS.
 *
 * @param origins such as `https://shop.example`; `*` for all
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export const crossOrigin = fastifyPlugin<{ readonly origins: readonly string[] }>(
  async (app, { origins }) => {
    const { default: cors } = await import("@fastify/cors");
    const allowsAll = origins.includes("*");
    await app.register(cors, {
      origin: (origin, callback) => {
        const isAllowed = origin !== undefined && (allowsAll || origins.includes(origin));
        callback(null, isAllowed && (allowsAll ? "*" : origin));
      },
      methods: ["GET", "HEAD", "POST"],
      exposedHeaders: EXPOSED,
      maxAge: REMEMBERED_S,
      strictPreflight: false, // a preflight that is none gets the contract's 405
    });
  },
);
