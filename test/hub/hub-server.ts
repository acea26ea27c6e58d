import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

export const REPOSITORY = "acme/Tiny";
export const REVISION = "0123456789abcdef0123456789abcdef01234567";

/** Bytes of the shortest answer that is broken on its way. */
const LONG = 10_000;

/** A request that a server has seen. */
export interface Seen {
  readonly at: "hub" | "cdn";
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly range: string | undefined;
}

/** What goes wrong, in the order in which it does; each entry once. */
export interface Trouble {
  /** Answers of the hub instead of its own. */
  readonly hub: { status: number; headers?: Record<string, string> }[];
  /** Answers of the content host instead of its own. */
  readonly cdn: { status: number; headers?: Record<string, string> }[];
  /** After so many bytes of a long answer, the content host breaks the connection. */
  readonly breakAfter: number[];
  /** After so many bytes of a long answer, the content host sends nothing any more. */
  readonly stallAfter: number[];
}

/**
 * Speaks as the hub does: small files from a cache on the same host, large ones from another host, with ranges and entity tags.
 */
export class HubServer {
  readonly seen: Seen[] = [];
  readonly trouble: Trouble = { hub: [], cdn: [], breakAfter: [], stallAfter: [] };
  /** What the content host sends, where that is not what the hub says. */
  readonly swapped = new Map<string, Buffer>();
  /** Members of the description that are not what they should be. */
  described: Readonly<Record<string, unknown>> = {};
  /** Who may read. */
  token: string | undefined;
  isGated = false;
  knowsRanges = true;
  tellsSizes = true;
  readonly #files: ReadonlyMap<string, Buffer>;
  readonly #large: ReadonlySet<string>;
  readonly #hub: Server;
  readonly #cdn: Server;

  private constructor(files: ReadonlyMap<string, Buffer>, large: readonly string[]) {
    this.#files = files;
    this.#large = new Set(large);
    this.#hub = createServer((request, response) => this.#answerAsHub(request, response));
    this.#cdn = createServer((request, response) => this.#answerAsCdn(request, response));
  }

  /** @param large names of the files that the other host sends */
  static async start(files: ReadonlyMap<string, Buffer>, large: readonly string[]): Promise<HubServer> {
    const started = new HubServer(files, large);
    await Promise.all([started.#hub, started.#cdn].map(listen));
    return started;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${portOf(this.#hub)}`;
  }

  get cdnHost(): string {
    return `127.0.0.1:${portOf(this.#cdn)}`;
  }

  /** The requests for a file's content, by host. */
  fetches(name: string): readonly Seen[] {
    return this.seen.filter(
      ({ path, at }) => path.endsWith(`/${name}`) && (at === "cdn") === this.#large.has(name),
    );
  }

  async stop(): Promise<void> {
    for (const server of [this.#hub, this.#cdn]) {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    }
  }

  #answerAsHub(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? "", this.endpoint);
    this.#note("hub", request, pathname);
    const trouble = this.trouble.hub.shift();
    if (trouble) return void response.writeHead(trouble.status, trouble.headers).end("trouble");
    if (pathname.startsWith("/api/models/")) return void this.#describe(request, response, pathname);
    const path = /^\/(?:api\/resolve-cache\/models\/)?acme\/Tiny\/(?:resolve\/)?[0-9a-f]{40}\/(.+)$/.exec(
      pathname,
    )?.[1];
    const name = path === undefined ? undefined : decodeURIComponent(path);
    const refusal = this.#refusal(request, pathname, name);
    if (refusal) return void response.writeHead(refusal.status, refusal.headers).end("refused");
    const content = this.#files.get(name ?? "") ?? Buffer.alloc(0);
    if (pathname.startsWith("/api/"))
      return void this.#send(request, response, content, quoted(gitId(content)));
    if (!this.#large.has(name ?? "")) {
      const location = `/api/resolve-cache/models/${REPOSITORY}/${REVISION}/${name}?etag=x`;
      return void response.writeHead(307, { location, "content-length": "3" }).end("see");
    }
    const location = `http://${this.cdnHost}/blobs/${name}?signature=${this.seen.length}`;
    response.writeHead(302, { location, "content-length": "5" }).end("moved");
  }

  /** The description of the repository, with sizes and digests of its files. */
  #describe(request: IncomingMessage, response: ServerResponse, pathname: string): void {
    const says = (status: number, code: string) =>
      response.writeHead(status, { "x-error-code": code, "x-error-message": code }).end("{}");
    if (!pathname.startsWith(`/api/models/${REPOSITORY}/revision/`))
      return void says(request.headers.authorization === undefined ? 401 : 404, "RepoNotFound");
    const asked = pathname.split("/").at(-1) ?? "";
    if (asked !== "main" && asked !== REVISION) return void says(404, "RevisionNotFound");
    const siblings = [...this.#files].map(([rfilename, content]) => ({
      rfilename,
      size: content.length,
      blobId: gitId(content),
      ...(this.#large.has(rfilename)
        ? { lfs: { sha256: sha256(content), size: content.length, pointerSize: 130 } }
        : {}),
    }));
    const described = {
      id: REPOSITORY,
      sha: REVISION,
      lastModified: "2026-11-20T10:00:00.000Z",
      cardData: { license: "mit" },
      siblings,
      ...this.described,
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(described));
  }

  #refusal(request: IncomingMessage, pathname: string, name: string | undefined) {
    const says = (status: number, code: string, message: string) => ({
      status,
      headers: { "x-error-code": code, "x-error-message": message },
    });
    if (this.token !== undefined) {
      const sent = request.headers.authorization;
      if (sent === undefined)
        return says(401, "GatedRepo", `Access to model ${REPOSITORY} is restricted. Please log in.`);
      if (sent !== `Bearer ${this.token}`)
        return says(401, "", "Invalid credentials in Authorization header");
      if (this.isGated) return says(403, "GatedRepo", `Access to model ${REPOSITORY} is restricted`);
    }
    if (!pathname.includes(`/${REPOSITORY}/`)) return says(404, "RepoNotFound", "Repository not found");
    if (!pathname.includes(`/${REVISION}/`)) return says(404, "RevisionNotFound", "Invalid rev id");
    if (!this.#files.has(name ?? "")) return says(404, "EntryNotFound", "Entry not found");
    return undefined;
  }

  #answerAsCdn(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? "", this.endpoint);
    this.#note("cdn", request, pathname);
    const trouble = this.trouble.cdn.shift();
    if (trouble) return void response.writeHead(trouble.status, trouble.headers).end("trouble");
    const name = decodeURIComponent(pathname.slice("/blobs/".length));
    const content = this.swapped.get(name) ?? this.#files.get(name) ?? Buffer.alloc(0);
    this.#send(request, response, content, quoted(sha256(content)));
  }

  /** With ranges, and with what goes wrong on the way. @see RFC 9110, 14 */
  #send(request: IncomingMessage, response: ServerResponse, content: Buffer, etag: string): void {
    const begin = this.knowsRanges ? beginOf(request.headers.range) : 0;
    response.setHeader("etag", etag);
    if (begin > 0 && begin >= content.length)
      return void response.writeHead(416, { "content-range": `bytes */${content.length}` }).end();
    const body = content.subarray(begin);
    if (this.tellsSizes) response.setHeader("content-length", body.length);
    else response.setHeader("transfer-encoding", "chunked");
    if (begin > 0)
      response.writeHead(206, { "content-range": `bytes ${begin}-${content.length - 1}/${content.length}` });
    const isLong = body.length > LONG;
    const breakAt = isLong ? this.trouble.breakAfter.shift() : undefined;
    const stallAt = isLong && breakAt === undefined ? this.trouble.stallAfter.shift() : undefined;
    const cut = breakAt ?? stallAt;
    if (cut === undefined) return void response.end(body);
    response.write(body.subarray(0, cut), () => {
      if (breakAt !== undefined) response.socket?.destroySoon();
    });
  }

  #note(at: Seen["at"], { method = "", headers }: IncomingMessage, path: string): void {
    const { authorization, range } = headers;
    this.seen.push({ at, method, path, authorization, range });
  }
}

/** A proxy that tunnels, as HTTP_PROXY and HTTPS_PROXY name one. */
export class TunnelProxy {
  /** Authorities that were asked for, and with which credentials. */
  readonly seen: { readonly authority: string; readonly credentials: string | undefined }[] = [];
  /** What it wants in `proxy-authorization`. */
  credentials: string | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();

  private constructor() {
    this.#server = createServer((_request, response) => response.writeHead(400).end());
    this.#server.on("connect", (request: IncomingMessage, socket: Duplex) => this.#tunnel(request, socket));
  }

  static async start(): Promise<TunnelProxy> {
    const started = new TunnelProxy();
    await listen(started.#server);
    return started;
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #tunnel(request: IncomingMessage, socket: Duplex): void {
    const authority = request.url ?? "";
    const credentials = request.headers["proxy-authorization"];
    this.seen.push({ authority, credentials });
    if (this.credentials !== undefined && credentials !== this.credentials)
      return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
    const { hostname, port } = new URL(`http://${authority}`);
    const onward: Socket = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    for (const each of [socket, onward]) {
      this.#sockets.add(each);
      each.on("error", () => each.destroy());
      each.on("close", () => this.#sockets.delete(each));
    }
  }
}

async function listen(server: Server): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server does not listen");
  return address.port;
}

function beginOf(range: string | undefined): number {
  return Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
}

const quoted = (text: string) => `"${text}"`;
export const sha256 = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");
const gitId = (content: Uint8Array) =>
  createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
