import { readdirSync } from "node:fs";
import path from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ASSETS, PageFile, TYPES } from "./page-file.ts";

/** Scripts and styles are loaded from this server only; inline code and creating markup from strings are forbidden. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src data:", // the icon
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** Sends the page if a browser requests `/`. @returns whether it did */
export type Playground = (request: FastifyRequest, reply: FastifyReply) => boolean;

/**
 * Serves the playground: its page at `/`, its script and style below `/playground/`. The contract has no operation at `/`, so
 * requests that do not accept HTML get 404 there.
 *
 * @throws Error if the playground has not been built
 */
export function servePlayground(app: FastifyInstance): Playground {
  const page = new PageFile("playground/index.html", {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
    vary: "accept, accept-encoding",
  });
  for (const name of readdirSync(path.join(ASSETS, "playground"))) {
    if (name === "index.html" || TYPES[path.extname(name)] === undefined) continue;
    const caching = "public, max-age=31536000, immutable"; // file names change with the content
    const file = new PageFile(`playground/${name}`, { "cache-control": caching });
    app.get(`/playground/${name}`, (request, reply) => file.send(request, reply));
  }
  return (request, reply) => {
    if (!isRoot(request)) return false;
    reply.header("vary", "accept");
    if (!wantsHtml(request.headers.accept)) return false;
    void page.send(request, reply);
    return true;
  };
}

function isRoot({ method, raw }: FastifyRequest): boolean {
  return (method === "GET" || method === "HEAD") && /^\/(\?|$)/.test(raw.url ?? "");
}

/** Whether Accept lists HTML. Browsers send it for pages; programs send nothing or accept any type. */
function wantsHtml(accept = ""): boolean {
  return accept.split(",").some((range) => /^\s*text\/html\s*(;(?!\s*q=0(\.0*)?\s*$)|$)/i.test(range));
}
