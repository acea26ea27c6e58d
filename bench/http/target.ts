import { Pool } from "undici";
import { messageOf, ServiceError } from "../../src/errors.ts";
import { isRecord, parsedJson } from "../../src/records.ts";
import { serviceAddress } from "../../src/service-address.ts";
import { type BenchRequest, OPERATION_PATHS } from "../workloads/workload.ts";

export interface HttpReply {
  readonly status: number;
  readonly body: string;
}

/** Chosen: longer than the default deadline of 60 s, after which a server answers 504. */
const ANSWER_TIMEOUT_MS = 70_000;
/** Chosen: /health does not wait for the model. */
const HEALTH_TIMEOUT_MS = 10_000;

/** Facts of a server, from /health. */
export interface ServerFacts {
  readonly model: string;
  readonly precision: string;
  readonly version: string;
}

/** A server of the contract, used over HTTP only. */
export class Target {
  readonly url: string;
  /** Where autocannon connects. */
  readonly connection: { readonly url: string; readonly socketPath?: string };
  readonly headers: Readonly<Record<string, string>>;
  /** Path of the URL, without a trailing slash. */
  readonly #prefix: string;
  /** One keep-alive connection per concurrent request. */
  readonly #pool: Pool;

  /** @param apiKey sent as `Authorization: Bearer` */
  constructor(url: string, apiKey?: string | undefined) {
    const { name, origin, prefix, socketPath } = serviceAddress(url, "the URL of a server");
    this.url = name;
    this.#prefix = prefix;
    this.connection = { url: origin + prefix, ...(socketPath !== undefined && { socketPath }) };
    this.headers = {
      "content-type": "application/json",
      ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    };
    this.#pool = new Pool(origin, socketPath === undefined ? {} : { socketPath });
  }

  /** Path of an operation on this server. */
  pathOf(operation: BenchRequest["operation"]): string {
    return `${this.#prefix}${OPERATION_PATHS[operation]}`;
  }

  /** Rejects if there is no answer in time, or with the signal's reason. */
  send({ operation, body }: BenchRequest, signal: AbortSignal): Promise<HttpReply> {
    return this.#exchange("POST", OPERATION_PATHS[operation], signal, ANSWER_TIMEOUT_MS, body);
  }

  /** Sends a request that must be answered. @throws ServiceError INTERNAL without an answer; the signal's reason */
  sendSurely(request: BenchRequest, signal: AbortSignal): Promise<HttpReply> {
    return this.#surely(this.send(request, signal), signal);
  }

  /** @throws ServiceError INTERNAL if no server of the contract answers; the signal's reason */
  async facts(signal: AbortSignal, timeoutMs = HEALTH_TIMEOUT_MS): Promise<ServerFacts> {
    const reply = await this.#surely(this.#exchange("GET", "/health", signal, timeoutMs), signal);
    const health = reply.status === 200 ? parsedJson(reply.body) : undefined;
    if (isRecord(health) && "model" in health) {
      const { model, precision, version } = health;
      return { model: String(model), precision: String(precision), version: String(version) };
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
      throw new ServiceError("INTERNAL", `no server answers at ${this.url}: ${messageOf(cause)}.`, { cause });
    });
  }

  async #exchange(
    method: "GET" | "POST",
    path: string,
    signal: AbortSignal,
    timeoutMs: number,
    body: string | null = null,
  ): Promise<HttpReply> {
    const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
    const options = { method, path: this.#prefix + path, headers: this.headers, body, signal, ...timeouts };
    const reply = await this.#pool.request(options);
    return { status: reply.statusCode, body: await reply.body.text() };
  }
}
