import { existsSync } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { documentPath, type ShownDialect, titleOf } from "./docs.ts";
import { pagePolicy } from "./page-policy.ts";

// The build copies the bundle to dist/assets; this file is then dist/src/server/routes/redoc.js.
const BUILT_BUNDLE = fileURLToPath(new URL("../../../assets/redoc.standalone.js", import.meta.url));

// The bundle's only request to another host: a small logo beside the link to its project.
const REMOTE_LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg";
const EMPTY_IMAGE = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E";

// Its search runs in a worker that the bundle carries.
const CONTENT_SECURITY_POLICY = pagePolicy("worker-src blob:");

/**
 * Serves Redoc over /openapi.json at /redoc, with its bundle below it, and over a dialect's document at /redoc/NAME.
 *
 * @throws Error where the bundle is missing
 */
export async function serveRedoc(
  app: FastifyInstance,
  dialects: readonly ShownDialect[],
  version: string,
): Promise<void> {
  const bundle = bundlePath();
  await access(bundle);
  const pages = [
    {
      url: "/redoc",
      config: { operationId: "getRedoc" },
      document: "/openapi.json",
      title: "Typed Decision Service",
    },
    ...dialects.map((dialect) => ({
      url: `/redoc/${dialect.name}`,
      config: {},
      document: documentPath(dialect),
      title: titleOf(dialect.contract.document),
    })),
  ];
  for (const { url, config, document, title } of pages) {
    const links = pages.length > 1 ? pages.map((page) => (page.url === url ? page.title : linkTo(page))) : [];
    const page = Buffer.from(pageHtml(`${title} ${version}`, document, links), "utf8");
    app.get(url, { config }, (_request, reply) =>
      reply
        .header("content-type", "text/html; charset=utf-8")
        .header("content-security-policy", CONTENT_SECURITY_POLICY)
        .header("cache-control", "no-cache")
        .send(page),
    );
  }
  // read for each browser that asks: a megabyte that hardly anybody wants is not kept in memory
  app.get("/redoc/redoc.standalone.js", async (_request, reply) =>
    reply
      .header("content-type", "text/javascript; charset=utf-8")
      .header("cache-control", "public, max-age=3600")
      .send((await readFile(bundle, "utf8")).replaceAll(REMOTE_LOGO, EMPTY_IMAGE)),
  );
}

/** In a checkout that is not built, the development dependency's own file. */
function bundlePath(): string {
  if (existsSync(BUILT_BUNDLE)) return BUILT_BUNDLE;
  return createRequire(import.meta.url).resolve("redoc/bundles/redoc.standalone.js");
}

function linkTo({ url, title }: { readonly url: string; readonly title: string }): string {
  return `<a href="${url}">${title}</a>`;
}

/** @param links to the pages of the other documents, none where there are no others */
function pageHtml(title: string, document: string, links: readonly string[]): string {
  const others = links.length === 0 ? "" : `    <nav>${links.join(" · ")}</nav>\n`;
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="icon" href="data:,">
    <style>body { margin: 0; } nav { font: 14px sans-serif; padding: 8px 16px; }</style>
  </head>
  <body>
${others}    <redoc spec-url="${document}" hide-download-button></redoc>
    <script src="/redoc/redoc.standalone.js"></script>
  </body>
</html>
`;
}
