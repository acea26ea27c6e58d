import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

// built: dist/assets, seen from dist/src/server/routes/pages/page-file.js
const BUILT = fileURLToPath(new URL("../../../../assets", import.meta.url));
/** The same folder, seen from this source file. */
const BUILT_FROM_SOURCES = fileURLToPath(new URL("../../../../dist/assets", import.meta.url));

/** The folder of the pages' files, which `npm run build` fills. */
export const ASSETS = existsSync(BUILT) ? BUILT : BUILT_FROM_SOURCES;

export const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

const gzipAsync = promisify(gzip);

/**
 * A file of a page. It is read, and compressed off the event loop, when it is first asked for. Later requests share its bytes, so
 * they cost little time, and callers that do not read take no memory.
 */
export class PageFile {
  readonly #path: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #etag: string;
  #plain: Promise<Buffer> | undefined;
  #compressed: Promise<Buffer> | undefined;

  /**
   * @param name below `ASSETS`
   * @throws Error if the file does not exist
   */
  constructor(name: string, headers: Readonly<Record<string, string>>) {
    this.#path = path.join(ASSETS, name);
    const { size, mtimeMs } = statSync(this.#path);
    this.#headers = { "content-type": TYPES[path.extname(name)] ?? "text/plain", ...headers };
    this.#etag = `"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`;
  }

  async send({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const isCompressed = takesGzip(headers["accept-encoding"]);
    const etag = isCompressed ? `W/${this.#etag}` : this.#etag; // one strong tag would name two sequences of bytes
    reply.headers({ vary: "accept-encoding", ...this.#headers, etag });
    const known = headers["if-none-match"]?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
    if (known?.includes(this.#etag)) return reply.code(304).send();
    if (!isCompressed) {
      this.#plain ??= readFile(this.#path);
      return reply.send(await this.#plain);
    }
    this.#compressed ??= readFile(this.#path).then((bytes) => gzipAsync(bytes, { level: 9 }));
    return reply.header("content-encoding", "gzip").send(await this.#compressed);
  }
}

function takesGzip(accepted: string | string[] = ""): boolean {
  return /(^|[,\s])gzip\s*(;(?!\s*q=0(\.0*)?\s*(,|$))|,|$)/i.test(String(accepted));
}
