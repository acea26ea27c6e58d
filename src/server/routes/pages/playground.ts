import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

// built: dist/assets/playground, seen from dist/src/server/routes/pages/playground.js
const BUILT = fileURLToPath(new URL("../../../../assets/playground", import.meta.url));
/** The same folder, seen from this source file. */
const BUILT_FROM_SOURCES = fileURLToPath(new URL("../../../../dist/assets/playground", import.meta.url));

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

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

interface PageFile {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends the page if a browser requests `/`. @returns whether it did */
export type Playground = (request: FastifyRequest, reply: FastifyReply) => boolean;

/**
 * Serves the playground: its page at `/`, its script and style below `/playground/`. The contract has no operation at `/`, so
 * requests that do not accept HTML get 404 there.
 *
 * @throws Error if the playground has not been built
 */
export async function servePlayground(app: FastifyInstance): Promise<Playground> {
  const folder = existsSync(BUILT) ? BUILT : BUILT_FROM_SOURCES;
  const page = await readPageFile(path.join(folder, "index.html"), {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
    vary: "accept",
  });
  for (const name of await readdir(folder)) {
    const type = TYPES[path.extname(name)];
    if (type === undefined) continue;
    const caching = "public, max-age=31536000, immutable"; // file names change with the content
    const headers = { "content-type": type, "cache-control": caching };
    const file = await readPageFile(path.join(folder, name), headers);
    app.get(`/playground/${name}`, (request, reply) => sendFile(file, request, reply));
  }
  return (request, reply) => {
    if (!isRoot(request)) return false;
    reply.header("vary", "accept");
    if (!wantsHtml(request.headers.accept)) return false;
    sendFile(page, request, reply);
    return true;
  };
}

async function readPageFile(file: string, headers: PageFile["headers"]): Promise<PageFile> {
  const bytes = await readFile(file);
  const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  return { bytes, etag, headers };
}

function isRoot({ method, raw }: FastifyRequest): boolean {
  return (method === "GET" || method === "HEAD") && /^\/(\?|$)/.test(raw.url ?? "");
}

/** Whether Accept lists HTML. Browsers send it for pages; programs send nothing or accept any type. */
function wantsHtml(accept = ""): boolean {
  return accept.split(",").some((range) => /^\s*text\/html\s*(;(?!\s*q=0(\.0*)?\s*$)|$)/i.test(range));
}

function sendFile({ bytes, etag, headers }: PageFile, request: FastifyRequest, reply: FastifyReply) {
  reply.headers({ ...headers, etag });
  const known = request.headers["if-none-match"]?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return known?.includes(etag) ? reply.code(304).send() : reply.send(bytes);
}
