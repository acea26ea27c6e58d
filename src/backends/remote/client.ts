import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { memberOf } from "../../records.ts";

export interface RemoteSettings {
  /** Base URL of the server, without a trailing slash. */
  readonly url: string;
  readonly connections: number;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Trusted certificates in PEM format. */
  readonly ca?: string | undefined;
  readonly token?: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly body: Buffer;
}

/** Wait before the second try. It doubles with each further try, up to MOST_WAIT_MS. Chosen. */
const FIRST_WAIT_MS = 50;
const MOST_WAIT_MS = 2_000;
/** Tries of a forward whose connections break. Chosen: one more, because the forward may be what crashes the server. */
const MOST_BROKEN = 2;
/** Maximum size of an answer. Chosen: far above the scores and vectors of a batch. */
const MOST_ANSWER_BYTES = 64 * 2 ** 20;
const REFUSED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const BROKEN = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** HTTP client of the remote server. Connections are reused. Redirects are not followed, so the token reaches no other server. */
export class RemoteClient {
  readonly #settings: RemoteSettings;
  readonly #agent: Agent;
  readonly #closed = new AbortController();

  constructor(settings: RemoteSettings) {
    this.#settings = settings;
    const { connections, connectTimeoutMs, ca } = settings;
    this.#agent = new Agent({
      connections,
      // each request has a time limit of its own, which may be longer than the ones here, 300 s
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: MOST_ANSWER_BYTES,
      connect: { timeout: connectTimeoutMs, ...(ca !== undefined && { ca }) },
    });
  }

  /** Sends one GET. @throws Error if there is no complete response in time */
  get(path: string, timeoutMs = this.#settings.connectTimeoutMs): Promise<Answer> {
    return this.#once("GET", path, {}, undefined, timeoutMs);
  }

  /**
   * Sends a POST. Retries it while there is time if the server refused it (429, 503) or could not be reached, and once after
   * a broken connection.
   *
   * @throws Error if there is no complete response in time
   */
  async post(path: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<Answer> {
    const until = performance.now() + this.#settings.timeoutMs;
    let broken = 0;
    for (let tries = 0; ; tries++) {
      const leftMs = until - performance.now();
      const outcome = await this.#once("POST", path, headers, body, Math.max(1, leftMs)).catch(asError);
      const isError = outcome instanceof Error;
      if (!isError && outcome.status !== 429 && outcome.status !== 503) return outcome;
      if (isError) {
        const code = String(memberOf(outcome, "code") ?? memberOf(outcome.cause, "code"));
        if (BROKEN.has(code)) broken += 1;
        if (this.#closed.signal.aborted || broken >= MOST_BROKEN || !(BROKEN.has(code) || REFUSED.has(code)))
          throw outcome;
      }
      const waitMs =
        (isError ? undefined : retryAfterMs(outcome.header("retry-after"))) ??
        Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries);
      if (performance.now() + waitMs >= until) {
        if (isError) throw outcome;
        return outcome;
      }
      await sleep(waitMs, undefined, { signal: this.#closed.signal });
    }
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error("the backend is closed"));
    await this.#agent.destroy();
  }

  async #once(
    method: "GET" | "POST",
    path: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer | undefined,
    timeoutMs: number,
  ): Promise<Answer> {
    const { url, token } = this.#settings;
    const answer = await request(url + path, {
      method,
      dispatcher: this.#agent,
      // for the whole response, so that a server that sends a byte now and then is also cut off
      signal: AbortSignal.any([this.#closed.signal, AbortSignal.timeout(Math.ceil(timeoutMs))]),
      headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body }),
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    const header = (name: string) => {
      const value = answer.headers[name];
      return Array.isArray(value) ? value[0] : value;
    };
    return { status: answer.statusCode, header, body: bytes };
  }
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));

/** Parses Retry-After: seconds or a date. @returns milliseconds from now; undefined if absent or invalid */
function retryAfterMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(text.trim()) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
