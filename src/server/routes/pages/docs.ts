import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { pagePolicy } from "./page-policy.ts";

/** Swagger UI resolves the document relative to the full address of its page. A query in the address would break that. */
const WITHOUT_QUERY = {
  filename: "without-query.js",
  content: 'if (location.search) history.replaceState(null, "", location.pathname + location.hash);\n',
};

type OpenapiDocument = Readonly<Record<string, unknown>>;

/** A dialect as the documentation pages show it. */
export interface ShownDialect {
  readonly name: string;
  readonly basePath: string;
  readonly contract: { readonly document: OpenapiDocument };
}

/** Where the document of a dialect is served. */
export function documentPath({ name }: Pick<ShownDialect, "name">): string {
  return `/docs/contracts/${name}.json`;
}

/** `info.title` of a document. */
export function titleOf({ info }: OpenapiDocument): string {
  return typeof info === "object" && info !== null && "title" in info ? String(info.title) : "";
}

/** Serves Swagger UI at /docs. It shows the contract's document and, by a selector, those of the dialects. */
export async function serveDocs(
  app: FastifyInstance,
  document: OpenapiDocument,
  dialects: readonly ShownDialect[],
  version: string,
): Promise<void> {
  app.addHook("onSend", (request, reply, _payload, next) => {
    const caching = cacheControlOf(request.routeOptions.url ?? "");
    if (caching !== undefined && reply.statusCode < 400) reply.header("cache-control", caching);
    next();
  });
  // finds the route that the plugin adds without reporting it
  app.addHook("onRoute", (route) => {
    if (route.url === "/docs") route.config = { ...route.config, operationId: "getDocs" };
  });
  // the plugin's type requires a fully typed OpenAPI document, but the plugin only serializes it
  const specification = { document: document as never };
  await app.register(swagger, { mode: "static", specification });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: pagePolicy(),
    theme: { title: `Typed Decision Service ${version}`, js: dialects.length === 0 ? [WITHOUT_QUERY] : [] },
    uiConfig: { ...selection(document, dialects), validatorUrl: null },
    transformSpecification: (specification) => ofThisServer(specification, ""),
    transformSpecificationClone: false,
  });
  for (const dialect of dialects) {
    const text = JSON.stringify(ofThisServer(dialect.contract.document, dialect.basePath));
    app.get(documentPath(dialect), (_request, reply) =>
      reply.header("content-type", "application/json; charset=utf-8").send(text),
    );
  }
}

/** Swagger UI shows the selector only in its standalone layout. It stores the choice in the query. */
function selection(document: OpenapiDocument, dialects: readonly ShownDialect[]) {
  if (dialects.length === 0) return { layout: "BaseLayout" };
  const urls = [
    { name: titleOf(document), url: "/docs/json" },
    ...dialects.map((dialect) => ({ name: titleOf(dialect.contract.document), url: documentPath(dialect) })),
  ];
  return { layout: "StandaloneLayout", urls };
}

/** Makes "Try it out" call the server that the page came from, whatever its address. */
function ofThisServer<T extends object>(document: T, basePath: string) {
  return { ...document, servers: [{ url: basePath || "/" }] };
}

/** Cache-Control by route pattern: pages and documents change with the service's version, the files of a version do not. */
function cacheControlOf(pattern: string): string | undefined {
  if (pattern.startsWith("/docs/static/")) return "public, max-age=3600";
  if (pattern.startsWith("/docs") || /^\/openapi(\.typed)?\.json$/.test(pattern)) return "no-cache";
  return undefined;
}
