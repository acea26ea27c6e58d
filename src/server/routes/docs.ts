import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { pagePolicy } from "./page-policy.ts";

/** Swagger UI looks for the document behind the whole address of its page, where a query would be in the way. */
const WITHOUT_QUERY = {
  filename: "without-query.js",
  content: 'if (location.search) history.replaceState(null, "", location.pathname + location.hash);\n',
};

type OpenapiDocument = Readonly<Record<string, unknown>>;

/** A contract beside the plain one, as the pages show it. */
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

/** Serves Swagger UI at /docs over the contract's document and, by a selector, those of the dialects, with its files below it. */
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
  // the plugin's own route, of which it tells nothing
  app.addHook("onRoute", (route) => {
    if (route.url === "/docs") route.config = { ...route.config, operationId: "getDocs" };
  });
  // The plugin's type wants every member of an OpenAPI document spelled out; it only serializes the object.
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

/** Swagger UI has the selector in the bar of its larger layout. It keeps the choice in the query. */
function selection(document: OpenapiDocument, dialects: readonly ShownDialect[]) {
  if (dialects.length === 0) return { layout: "BaseLayout" };
  const urls = [
    { name: titleOf(document), url: "/docs/json" },
    ...dialects.map((dialect) => ({ name: titleOf(dialect.contract.document), url: documentPath(dialect) })),
  ];
  return { layout: "StandaloneLayout", urls };
}

/** "Try it out" asks the server that the page came from, whatever its address. */
function ofThisServer<T extends object>(document: T, basePath: string) {
  return { ...document, servers: [{ url: basePath || "/" }] };
}

/** By route pattern: pages and document change with the service's version, the files of a version do not. */
function cacheControlOf(pattern: string): string | undefined {
  if (pattern.startsWith("/docs/static/")) return "public, max-age=3600";
  if (pattern.startsWith("/docs") || pattern === "/openapi.json") return "no-cache";
  return undefined;
}
