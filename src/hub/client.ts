import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from "undici";
import { arrivals } from "./arrival.ts";
import { type Asked, connectionError, failed, Interruption, refusalError } from "./failures.ts";
import type { HubSettings, Proxies } from "./settings.ts";

/** A file of a repository at a commit. */
export interface HubFile {
  readonly repository: string;
  readonly revision: string;
  readonly name: string;
}

/** What the hub says of a file before it sends it. */
export interface HubFileFacts {
  /** Bytes; unknown where the hub does not say. */
  readonly bytes: number | undefined;
  /** The content's SHA-256 where the hub keeps it by that, which it does for large files. */
  readonly sha256: string | undefined;
}

/** From where on a file is wanted. */
export interface From {
  /** Bytes that are there already. */
  readonly offset: number;
  /** Entity tag that the bytes came with, and the host that gave it: elsewhere it means nothing. */
  readonly tag?: { readonly etag: string; readonly host: string } | undefined;
}

/** The beginning of an answer that brings (part of) a file, or 416. */
export interface HubReply {
  readonly status: 200 | 206 | 416;
  readonly host: string;
  readonly header: (name: string) => string | undefined;
  readonly body: AsyncIterable<Buffer>;
  /** Reads no more of it. */
  readonly drop: () => void;
}

const MAX_REDIRECTS = 10;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Speaks to the hub: HTTP/1.1, with the token to the endpoint alone, by a proxy where the environment names one.
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

  /** @throws ServiceError PULL_FAILED | Interruption */
  async facts(file: HubFile): Promise<HubFileFacts> {
    const reply = await this.#follow(file, "HEAD", () => ({}), true);
    reply.drop();
    const { status } = reply;
    // a mirror may not know HEAD
    if (status === 405 || status === 501) return { bytes: undefined, sha256: undefined };
    if (status >= 400) throw refusalError(reply, this.#asked(file));
    const { linked } = reply;
    const isLast = status < 300;
    const etag = plainTag(linked.etag ?? (isLast ? reply.header("etag") : undefined));
    if (linked.commit !== undefined && linked.commit !== file.revision)
      throw failed(
        `${reply.host} answers for commit ${linked.commit.slice(0, 80)}, not for ${file.revision}.`,
      );
    return {
      bytes: byteCount(linked.size ?? (isLast ? reply.header("content-length") : undefined)),
      sha256: /^[0-9a-f]{64}$/.test(etag) ? etag : undefined,
    };
  }

  /** Asks for a file, or the rest of it. @throws ServiceError PULL_FAILED | Interruption */
  async open(file: HubFile, { offset, tag }: From): Promise<HubReply> {
    const range = (host: string): Record<string, string> => ({
      ...(offset > 0 ? { range: `bytes=${offset}-` } : {}),
      ...(offset > 0 && tag?.host === host ? { "if-range": tag.etag } : {}),
    });
    const reply = await this.#follow(file, "GET", range, false);
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

  /** @param staysHome whether a redirect to another host is an answer, and not to be followed */
  async #follow(
    { repository, revision, name }: HubFile,
    method: "GET" | "HEAD",
    headersFor: (host: string) => Record<string, string>,
    staysHome: boolean,
  ) {
    const home = new URL(this.#settings.endpoint).origin;
    let url = new URL(
      `${this.#settings.endpoint}/${repository}/resolve/${revision}/${encodeURIComponent(name)}`,
    );
    const linked: Record<"size" | "etag" | "commit", string | undefined> = {
      size: undefined,
      etag: undefined,
      commit: undefined,
    };
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const isHub = url.origin === home;
      const reply = await this.#request(url, method, headersFor(url.host), isHub);
      if (isHub) {
        linked.size ??= reply.header("x-linked-size");
        linked.etag ??= reply.header("x-linked-etag");
        linked.commit ??= reply.header("x-repo-commit");
      }
      const target = REDIRECTS.has(reply.status) ? targetOf(reply.header("location"), url) : undefined;
      if (target === undefined || (staysHome && target.origin !== home)) return { ...reply, isHub, linked };
      reply.drop();
      url = target;
    }
    throw failed(`${url.host} sends from one address to the next, more than ${MAX_REDIRECTS} times.`);
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
          // what is compressed on the way could not be resumed
          "accept-encoding": "identity",
          ...(isHub && token !== undefined ? { authorization: `Bearer ${token}` } : {}),
          ...headers,
        },
      });
      this.#hasAnswered = true;
      body.on("error", () => {}); // told to who reads it; nobody may
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
  throw new Interruption(`${from.host} refers to an address that is none`);
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

/** undici calls that class experimental, on the stderr of whoever runs a command; its version is pinned. */
function withoutWarning<T>(create: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return create();
  } finally {
    process.emitWarning = emitWarning;
  }
}
