import type { Readable } from "node:stream";
import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from "undici";
import { ServiceError } from "../errors.ts";
import { arrivals } from "./arrival.ts";
import { type Asked, connectionError, failed, Interruption, refusalError } from "./failures.ts";
import type { HubSettings, Proxies } from "./settings.ts";

/** A repository at a commit or branch. */
export interface HubRevision {
  readonly repository: string;
  readonly revision: string;
}

/** A file of a repository at a commit. */
export interface HubFile extends HubRevision {
  /** Path in the repository. */
  readonly name: string;
}

/** The hub's metadata of a file. */
export interface HubFileFacts {
  /** Bytes; undefined if the hub does not say. */
  readonly bytes: number | undefined;
  /** SHA-256 of the content. The hub gives it for large files only. */
  readonly sha256: string | undefined;
}

/** Head of an answer with a file or part of it, or of a 416. */
export interface HubReply {
  readonly status: 200 | 206 | 416;
  readonly host: string;
  readonly header: (name: string) => string | undefined;
  readonly body: AsyncIterable<Buffer>;
  /** Stops reading. */
  readonly drop: () => void;
}

/** The answer at the end of redirects. */
interface FollowedReply {
  readonly status: number;
  readonly host: string;
  /** Whether the hub itself answered. */
  readonly isHub: boolean;
  readonly header: (name: string) => string | undefined;
  readonly body: Readable;
  readonly drop: () => void;
  /** What the hub said of a file that it keeps elsewhere. */
  readonly linked: { readonly size?: string | undefined; readonly etag?: string | undefined };
}

const MAX_REDIRECTS = 10;
/** Longest description of a repository, and longest file that is read into memory. Chosen: a tokenizer.json that the hub keeps as text has at most 10 MB. */
const MAX_TEXT_BYTES = 2 ** 25;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * HTTP client of the hub. It sends the token to the endpoint only, and uses the proxies of the environment.
 *
 *     <endpoint>/<repository>/resolve/<commit>/<file>
 *        │ 200                small files
 *        │ 307 on this host   small files, from a cache of the hub
 *        ╰ 302 elsewhere      large files, with x-linked-size and x-linked-etag
 *
 * @see https://github.com/huggingface/huggingface_hub/blob/main/src/huggingface_hub/file_download.py
 */
export class HubClient {
  readonly #settings: HubSettings;
  readonly #dispatcher: Dispatcher;
  readonly #signal: AbortSignal;
  #hasAnswered = false;

  constructor(settings: HubSettings, signal: AbortSignal) {
    this.#settings = settings;
    this.#signal = signal;
    this.#dispatcher = createDispatcher(settings);
  }

  /** The hub's description of a repository, with the digests of its files: parsed JSON. @throws ServiceError PULL_FAILED | Interruption */
  async describe({ repository, revision }: HubRevision): Promise<unknown> {
    const asked = { repository, revision, name: "" };
    const url = `${this.#settings.endpoint}/api/models/${repository}/revision/${revision}?blobs=true`;
    const reply = await this.#follow(url, "GET", {}, false);
    if (reply.status !== 200) throw this.#refused(reply, asked);
    try {
      return JSON.parse((await this.#bytes(reply, `the description of ${repository}`)).toString("utf8"));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw failed(`${reply.host} describes ${repository} in another form than JSON.`, error);
    }
  }

  /** A small file. @throws ServiceError PULL_FAILED | Interruption */
  async read(file: HubFile): Promise<Buffer> {
    const reply = await this.#follow(this.#addressOf(file), "GET", {}, false);
    if (reply.status !== 200) throw this.#refused(reply, file);
    return this.#bytes(reply, file.name);
  }

  /** @throws ServiceError PULL_FAILED | Interruption */
  async facts(file: HubFile): Promise<HubFileFacts> {
    const reply = await this.#follow(this.#addressOf(file), "HEAD", {}, true);
    reply.drop();
    const { status } = reply;
    // a mirror may not support HEAD
    if (status === 405 || status === 501) return { bytes: undefined, sha256: undefined };
    if (status >= 400) throw refusalError(reply, this.#asked(file));
    const { linked } = reply;
    const isLast = status < 300;
    const etag = plainTag(linked.etag ?? (isLast ? reply.header("etag") : undefined));
    return {
      bytes: byteCount(linked.size ?? (isLast ? reply.header("content-length") : undefined)),
      sha256: /^[0-9a-f]{64}$/.test(etag) ? etag : undefined,
    };
  }

  /** Asks for a file from byte `offset` on. @throws ServiceError PULL_FAILED | Interruption */
  async open(file: HubFile, offset: number): Promise<HubReply> {
    const range: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {};
    const reply = await this.#follow(this.#addressOf(file), "GET", range, false);
    const { status } = reply;
    if (status === 200 || status === 206 || status === 416) {
      const { body } = reply;
      return { ...reply, status, body: arrivals(body), drop: () => void body.destroy() };
    }
    reply.drop();
    throw refusalError(reply, this.#asked(file));
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  #asked({ repository, revision, name }: HubFile): Asked {
    const { endpoint, token } = this.#settings;
    return { endpoint, repository, revision, file: name, hasToken: token !== undefined };
  }

  #addressOf({ repository, revision, name }: HubFile): string {
    const path = name.split("/").map(encodeURIComponent).join("/");
    return `${this.#settings.endpoint}/${repository}/resolve/${revision}/${path}`;
  }

  #refused(reply: FollowedReply, file: HubFile) {
    reply.drop();
    return refusalError(reply, this.#asked(file));
  }

  /** The whole body of an answer. */
  async #bytes({ body, host }: FollowedReply, what: string): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of arrivals(body)) {
        bytes += chunk.length;
        if (bytes > MAX_TEXT_BYTES)
          throw failed(`${what} has more bytes than the allowed ${MAX_TEXT_BYTES}.`);
        chunks.push(chunk);
      }
    } catch (error) {
      this.#signal.throwIfAborted();
      throw error instanceof ServiceError ? error : connectionError(error, host, false);
    }
    return Buffer.concat(chunks);
  }

  /** @param staysHome whether a redirect to another host is returned as the answer instead of followed */
  async #follow(
    address: string,
    method: "GET" | "HEAD",
    headers: Record<string, string>,
    staysHome: boolean,
  ): Promise<FollowedReply> {
    const home = new URL(this.#settings.endpoint).origin;
    let url = new URL(address);
    const linked: { size?: string | undefined; etag?: string | undefined } = {};
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const isHub = url.origin === home;
      const reply = await this.#request(url, method, headers, isHub);
      if (isHub) {
        linked.size ??= reply.header("x-linked-size");
        linked.etag ??= reply.header("x-linked-etag");
      }
      const target = REDIRECTS.has(reply.status) ? targetOf(reply.header("location"), url) : undefined;
      if (target === undefined || (staysHome && target.origin !== home)) return { ...reply, isHub, linked };
      reply.drop();
      url = target;
    }
    throw failed(`${url.host} redirects more than ${MAX_REDIRECTS} times.`);
  }

  async #request(url: URL, method: "GET" | "HEAD", headers: Record<string, string>, isHub: boolean) {
    const { token, stallMs } = this.#settings;
    try {
      const {
        statusCode,
        headers: received,
        body,
      } = await request(url, {
        method,
        dispatcher: this.#dispatcher,
        signal: this.#signal,
        headersTimeout: stallMs,
        bodyTimeout: stallMs,
        headers: {
          "user-agent": "typed-decisions",
          // a compressed transfer cannot be resumed
          "accept-encoding": "identity",
          ...(isHub && token !== undefined ? { authorization: `Bearer ${token}` } : {}),
          ...headers,
        },
      });
      this.#hasAnswered = true;
      body.on("error", () => {}); // reported to the reader; there may be none
      const header = (name: string) => {
        const value = received[name];
        return Array.isArray(value) ? value[0] : value;
      };
      return {
        status: statusCode,
        host: url.host,
        header,
        body,
        drop: () => void body.dump().catch(() => {}),
      };
    } catch (error) {
      this.#signal.throwIfAborted();
      throw connectionError(error, url.host, !this.#hasAnswered);
    }
  }
}

/** The next address of a redirect. */
function targetOf(location: string | undefined, from: URL): URL {
  try {
    const target = new URL(location ?? "", from);
    if (/^https?:$/.test(target.protocol) && location) return target;
  } catch {
    // as below
  }
  throw new Interruption(`${from.host} redirects to an invalid address`);
}

/** An entity tag without its quotes. */
const plainTag = (etag = "") => etag.replace(/^W\//, "").replaceAll('"', "");

export function byteCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function createDispatcher({ stallMs, proxies }: HubSettings): Dispatcher {
  const options = { connect: { timeout: stallMs }, connections: 2 };
  if (proxies.http === "" && proxies.https === "") return new Agent(options);
  return withoutWarning(() => new EnvHttpProxyAgent({ ...options, ...proxyOptions(proxies) }));
}

function proxyOptions({ http, https, none }: Proxies) {
  return { httpProxy: http, httpsProxy: https, noProxy: none };
}

/** Suppresses undici's warning that this class is experimental. Its version is pinned. */
function withoutWarning<T>(create: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return create();
  } finally {
    process.emitWarning = emitWarning;
  }
}
