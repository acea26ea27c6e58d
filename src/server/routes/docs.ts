import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { pagePolicy } from "./page-policy.ts";

/** Swagger UI looks for the document behind the whole address of its page, where a query would be in the way. */
const WITHOUT_QUERY = {
  filename: "without-query.js",
  content: 'if (location.search) history.replaceState(null, "", location.pathname + location.hash);\n',
};

/** Serves Swagger UI over the contract's document at /docs, with its files below it. */
export async function serveDocs(
  app: FastifyInstance,
  document: Readonly<Record<string, unknown>>,
  version: string,
): Promise<void> {
  app.addHook("onSend", (request, reply, _payload, next) => {
    const caching = cacheControlOf(request.routeOptions.url ?? "");
    if (caching !== undefined && reply.statusCode < 400) reply.header("cache-control", caching);
    next();
  });
  // The plugin's type wants every member of an OpenAPI document spelled out; it only serializes the object.
  const specification = { document: document as never };
  await app.register(swagger, { mode: "static", specification });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: pagePolicy(),
    theme: { title: `Typed Decision Service ${version}`, js: [WITHOUT_QUERY] },
    uiConfig: { layout: "BaseLayout", validatorUrl: null },
    // "Try it out" asks the server that the page came from, whatever its address.
    transformSpecification: (specification) => ({ ...specification, servers: [{ url: "/" }] }),
    transformSpecificationClone: false,
  });
}

/** By route pattern: pages and document change with the service's version, the files of a version do not. */
function cacheControlOf(pattern: string): string | undefined {
  if (pattern.startsWith("/docs/static/")) return "public, max-age=3600";
  if (pattern.startsWith("/docs") || pattern === "/openapi.json") return "no-cache";
  return undefined;
}
