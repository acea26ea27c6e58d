import { existsSync } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { documentPath, type ShownDialect, titleOf } from "./docs.ts";
import { pagePolicy } from "./page-policy.ts";

// built: dist/assets/redoc.standalone.js, seen from dist/src/server/routes/pages/redoc.js
const BUILT_BUNDLE = fileURLToPath(new URL("../../../../assets/redoc.standalone.js", import.meta.url));

// the bundle's only request to another host: the logo beside the link to its project
const REMOTE_LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg";
const EMPTY_IMAGE = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E";

// its search runs in a worker from a blob: URL
const CONTENT_SECURITY_POLICY = pagePolicy("worker-src blob:");

/**
 * Serves Redoc: the contract at /redoc, a dialect's document at /redoc/NAME, and its script below /redoc.
 *
 * @throws Error if the bundle is missing
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
      document: "/openapi.typed.json",
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
  // read from disk for each request, because a megabyte that is rarely needed should not stay in memory
  app.get("/redoc/redoc.standalone.js", async (_request, reply) =>
    reply
      .header("content-type", "text/javascript; charset=utf-8")
      .header("cache-control", "public, max-age=3600")
      .send((await readFile(bundle, "utf8")).replaceAll(REMOTE_LOGO, EMPTY_IMAGE)),
  );
}

/** The bundle of the build; in a checkout that has not been built, that of the development dependency. */
function bundlePath(): string {
  if (existsSync(BUILT_BUNDLE)) return BUILT_BUNDLE;
  return createRequire(import.meta.url).resolve("redoc/bundles/redoc.standalone.js");
}

function linkTo({ url, title }: { readonly url: string; readonly title: string }): string {
  return `<a href="${url}">${title}</a>`;
}

/** @param links links to the pages of the other documents; empty if there are none */
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
