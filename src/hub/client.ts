import type { Readable } from "node:stream";
import { Agent, type Dispatcher, EnvHttpProxyAgent, interceptors, request } from "undici";
import { ServiceError } from "../errors.ts";
import { memberOf } from "../records.ts";
import { connectionError, failed, refusalError } from "./failures.ts";
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

/** Head of an answer with a file or part of it, or of a 416. */
export interface HubReply {
  readonly status: number;
  readonly host: string;
  readonly header: (name: string) => string | undefined;
  readonly body: Readable;
}

const MAX_REDIRECTS = 10;
/** Maximum size of a repository's description, which is read into memory. */
const MAX_DESCRIPTION_BYTES = 2 ** 25;

/** HTTP client of the hub. It sends the token to the endpoint only, and uses the proxies of the environment. */
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
    const path = `api/models/${repository}/revision/${revision}?blobs=true`;
    const { body, host } = await this.#get(path, { repository, revision, name: "" });
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of body) {
        bytes += chunk.length;
        if (bytes > MAX_DESCRIPTION_BYTES)
          throw failed(`${host} describes ${repository} with more than ${MAX_DESCRIPTION_BYTES} bytes.`);
        chunks.push(chunk);
      }
      return JSON.parse(Buffer.concat(chunks).toString("utf8"));
    } catch (error) {
      this.#signal.throwIfAborted();
      if (error instanceof SyntaxError)
        throw failed(`${host} describes ${repository} in another form than JSON.`, error);
      throw error instanceof ServiceError ? error : connectionError(error, host, false);
    }
  }

  /** Asks for a file from byte `offset` on. @throws ServiceError PULL_FAILED | Interruption */
  async open(file: HubFile, offset: number): Promise<HubReply> {
    const path = file.name.split("/").map(encodeURIComponent).join("/");
    const range: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {};
    return this.#get(`${file.repository}/resolve/${file.revision}/${path}`, file, range);
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  /** @returns an answer with the status 200, 206 or 416 @throws ServiceError PULL_FAILED | Interruption */
  async #get(path: string, file: HubFile, headers: Record<string, string> = {}): Promise<HubReply> {
    const { endpoint, token, stallMs } = this.#settings;
    const hub = new URL(endpoint);
    const reply = await request(`${endpoint}/${path}`, {
      dispatcher: this.#dispatcher,
      signal: this.#signal,
      headersTimeout: stallMs,
      bodyTimeout: stallMs,
      headers: {
        "user-agent": "typed-decisions",
        // a compressed transfer cannot be resumed
        "accept-encoding": "identity",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
    }).catch((error: unknown) => {
      this.#signal.throwIfAborted();
      throw connectionError(error, hub.host, !this.#hasAnswered);
    });
    this.#hasAnswered = true;
    const { statusCode: status, body } = reply;
    body.on("error", () => {}); // reported to the reader; there may be none
    const { host, origin } = lastUrl(reply.context) ?? hub;
    const header = (name: string) => [reply.headers[name]].flat()[0];
    if (status === 200 || status === 206 || status === 416) return { status, host, header, body };
    body.destroy();
    const asked = { endpoint, ...file, hasToken: token !== undefined };
    throw refusalError({ status, host, isHub: origin === hub.origin, header }, asked);
  }
}

/** The address that answered, at the end of redirects. */
function lastUrl(context: object): URL | undefined {
  const history = memberOf(context, "history");
  const last: unknown = Array.isArray(history) ? history.at(-1) : undefined;
  return last instanceof URL ? last : undefined;
}

/** Follows redirects, without the token if they lead to another host. */
function createDispatcher({ stallMs, proxies }: HubSettings): Dispatcher {
  const options = { connect: { timeout: stallMs }, connections: 2 };
  const hasProxy = proxies.http !== "" || proxies.https !== "";
  const dispatcher = hasProxy
    ? withoutWarning(() => new EnvHttpProxyAgent({ ...options, ...proxyOptions(proxies) }))
    : new Agent(options);
  return dispatcher.compose(interceptors.redirect({ maxRedirections: MAX_REDIRECTS }));
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
