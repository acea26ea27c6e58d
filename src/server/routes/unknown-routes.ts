import fastifyPlugin from "fastify-plugin";
import type { Contract } from "../../contract/call.ts";
import { ServiceError } from "../../errors.ts";
import { notFound, sendReply } from "../wire/replies.ts";
import { servePlayground } from "./pages/playground.ts";

const METHODS = ["GET", "HEAD", "POST"] as const;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

interface UnknownRouteOptions {
  readonly contract: Contract;
  readonly hasPages: boolean;
}

/**
 * Answers requests without a route, for every method that Node.js can parse: 405 with `Allow` if the path exists with another
 * method, otherwise 404. A browser at `/` gets the playground.
 */
export const unknownRoutes = fastifyPlugin<UnknownRouteOptions>((app, { contract, hasPages }, done) => {
  const playground = hasPages ? servePlayground(app) : undefined;
  app.setNotFoundHandler((request, reply) => {
    if (playground?.(request, reply)) return reply;
    const { url = "" } = request.raw;
    const methodsOf = (path: string) =>
      METHODS.filter((method) => app.findRoute({ method, url: path }) !== null);
    const allowed = methodsOf(url);
    if (allowed.length === 0 || allowed.some((method) => method === request.method)) {
      const error = unknownPath(url, (path) => methodsOf(path).length > 0);
      return sendReply(reply, contract.errorReply(error, request.id));
    }
    const error = new ServiceError(
      "METHOD_NOT_ALLOWED",
      `Expected ${allowed.length > 1 ? "one of the methods" : "the method"} ${allowed.join(", ")}, got another.`,
    );
    return sendReply(reply.header("allow", allowed.join(", ")), contract.errorReply(error, request.id));
  });
  done();
});

/** The error for a path that does not exist. It names the path without additional slashes, if that exists. */
export function unknownPath(url: string, exists: (path: string) => boolean): ServiceError {
  const [path = ""] = url.split("?");
  const tidy = path.replace(/\/{2,}/g, "/").replace(/(.)\/$/, "$1");
  if (tidy === path || !exists(tidy)) return notFound();
  return new ServiceError(
    "NOT_FOUND",
    `This path does not exist. Send the request to ${tidy}, without the additional slash.`,
  );
}

/** The error for a path that cannot be decoded: malformed percent-encoding, or a path that does not exist (`%ff`, `OPTIONS *`). */
export function undecodablePath(url: string): ServiceError {
  if (!BROKEN_ESCAPE.test(url)) return notFound();
  return new ServiceError(
    "MALFORMED_HTTP",
    "Expected two hexadecimal digits after each percent sign of the path, got something else.",
  );
}
