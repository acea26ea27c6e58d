import { existsSync } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { pagePolicy } from "./page-policy.ts";

// The build copies the bundle to dist/assets; this file is then dist/src/server/routes/redoc.js.
const BUILT_BUNDLE = fileURLToPath(new URL("../../../assets/redoc.standalone.js", import.meta.url));

// The bundle's only request to another host: a small logo beside the link to its project.
const REMOTE_LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg";
const EMPTY_IMAGE = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E";

// Its search runs in a worker that the bundle carries.
const CONTENT_SECURITY_POLICY = pagePolicy("worker-src blob:");

/** Serves Redoc over /openapi.json at /redoc, with its bundle below it. @throws Error where the bundle is missing */
export async function serveRedoc(app: FastifyInstance, version: string): Promise<void> {
  const page = Buffer.from(pageHtml(version), "utf8");
  const bundle = bundlePath();
  await access(bundle);
  app.get("/redoc", (_request, reply) =>
    reply
      .header("content-type", "text/html; charset=utf-8")
      .header("content-security-policy", CONTENT_SECURITY_POLICY)
      .header("cache-control", "no-cache")
      .send(page),
  );
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

function pageHtml(version: string): string {
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Typed Decision Service ${version}</title>
    <link rel="icon" href="data:,">
    <style>body { margin: 0; }</style>
  </head>
  <body>
    <redoc spec-url="/openapi.json" hide-download-button></redoc>
    <script src="/redoc/redoc.standalone.js"></script>
  </body>
</html>
`;
}
