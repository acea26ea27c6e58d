import { setMaxListeners } from "node:events";
import { type Dispatcher, errors, Pool } from "undici";
import { ServiceError } from "../../src/errors.ts";
import { serviceAddress } from "../../src/service-address.ts";
import { takesFewerTokens } from "../workloads/limits.ts";
import { type BenchRequest, OPERATION_PATHS, type Operation } from "../workloads/workload.ts";

export interface HttpReply {
  readonly status: number;
  readonly body: string;
}

/** Limits of an exchange. */
export interface Patience {
  /** Aborts it with its reason. */
  readonly signal: AbortSignal;
  /** Time limit from sending the request to the headers of the answer, and between parts of its body. */
  readonly timeoutMs: number;
}

/** Chosen: longer than the default deadline of 60 s, after which a server answers 504. */
export const ANSWER_TIMEOUT_MS = 70_000;
/** Chosen: /health does not wait for the model. */
const HEALTH_TIMEOUT_MS = 10_000;

/** Facts of a server, from /health. */
export interface ServerFacts {
  readonly model: string;
  readonly precision: string;
  readonly version: string;
  /** Whether its limits are below the sizes of generated requests. */
  readonly takesFewerTokens: boolean;
}

/** A server of the contract, used over HTTP only. */
export class Target {
  readonly url: string;
  /** Where to connect to. */
  readonly connection: { readonly url: string; readonly socketPath?: string };
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Path prefix of the URL, without a trailing slash. */
  readonly #prefix: string;
  /** One keep-alive connection per concurrent request. Costs less processor time than Node's own client. */
  readonly #pool: Pool;

  /** @param apiKey sent as `Authorization: Bearer` */
  constructor(url: string, apiKey?: string | undefined) {
    const { name, origin, prefix, socketPath } = serviceAddress(url, "the URL of a server");
    this.#prefix = prefix;
    this.url = name;
    this.connection = { url: origin + prefix, ...(socketPath !== undefined && { socketPath }) };
    this.headers = {
      "content-type": "application/json",
      ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    };
    this.#pool = new Pool(origin, socketPath === undefined ? {} : { socketPath });
  }

  /** Path of an operation on this server. */
  pathOf(operation: Operation): string {
    return `${this.#prefix}${OPERATION_PATHS[operation]}`;
  }

  /** Sends a request over a keep-alive connection. Rejects if there is no answer, or with the signal's reason. */
  send({ operation, body }: BenchRequest, patience: Patience): Promise<HttpReply> {
    return this.#exchange("POST", this.pathOf(operation), patience, body);
  }

  /** Sends a request that must be answered. @throws ServiceError INTERNAL without an answer; the signal's reason */
  sendSurely(request: BenchRequest, signal: AbortSignal): Promise<HttpReply> {
    return this.#surely(this.send(request, { signal, timeoutMs: ANSWER_TIMEOUT_MS }), signal);
  }

  /** @throws ServiceError INTERNAL if no server of the contract answers; the signal's reason */
  async facts(signal: AbortSignal, timeoutMs = HEALTH_TIMEOUT_MS): Promise<ServerFacts> {
    const asked = this.#exchange("GET", `${this.#prefix}/health`, { signal, timeoutMs });
    const reply = await this.#surely(asked, signal);
    const health = reply.status === 200 ? parseJson(reply.body) : undefined;
    if (typeof health === "object" && health !== null && "model" in health) {
      const { model, precision, version, limits } = health as Record<string, unknown>;
      return {
        model: String(model),
        precision: String(precision),
        version: String(version),
        takesFewerTokens: takesFewerTokens(limits),
      };
    }
    const problem = reply.status === 200 ? "without the served model" : "it must be ready";
    throw new ServiceError("INTERNAL", `${this.url}/health answers ${reply.status}: ${problem}.`);
  }

  close(): void {
    void this.#pool.destroy();
  }

  #surely(asked: Promise<HttpReply>, signal: AbortSignal): Promise<HttpReply> {
    return asked.catch((cause: unknown) => {
      signal.throwIfAborted();
      const reason = cause instanceof Error ? cause.message || String(cause) : String(cause);
      throw new ServiceError("INTERNAL", `no server answers at ${this.url}: ${reason}.`, { cause });
    });
  }

  async #exchange(
    method: "GET" | "POST",
    path: string,
    { signal, timeoutMs }: Patience,
    body: string | null = null,
  ): Promise<HttpReply> {
    signal.throwIfAborted();
    setMaxListeners(0, signal); // one for each concurrent request
    const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
    const options = { method, path, headers: this.headers, body, ...timeouts };
    try {
      return await new Promise<HttpReply>((resolve, reject) => {
        this.#pool.dispatch(options, new Exchange(signal, resolve, reject));
      });
    } catch (cause) {
      signal.throwIfAborted();
      if (!(cause instanceof errors.HeadersTimeoutError || cause instanceof errors.BodyTimeoutError))
        throw cause;
      throw new Error(`no answer within ${timeoutMs / 1000} s`, { cause });
    }
  }
}

/**
 * Reads the reply to one request. The pool's `request` makes a stream of each body: with 250 requests a second, the
 * sender then takes 1.1 to 1.7 times the processor time, which a service on the same machine lacks.
 */
class Exchange implements Dispatcher.DispatchHandlers {
  readonly #signal: AbortSignal;
  readonly #resolve: (reply: HttpReply) => void;
  readonly #reject: (cause: Error) => void;
  readonly #chunks: Buffer[] = [];
  readonly #onAbort = () => this.#stop();
  #status = 0;
  #abort: () => void = () => {};

  constructor(signal: AbortSignal, resolve: (reply: HttpReply) => void, reject: (cause: Error) => void) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener("abort", this.#onAbort);
  }

  #stop(): void {
    this.#reject(this.#signal.reason); // also before there is a connection
    this.#abort();
  }

  onConnect(abort: () => void): void {
    this.#abort = abort;
    if (this.#signal.aborted) abort();
  }

  onHeaders(status: number): boolean {
    this.#status = status;
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    return true;
  }

  onComplete(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#resolve({ status: this.#status, body: Buffer.concat(this.#chunks).toString() });
  }

  onError(cause: Error): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#reject(cause);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
