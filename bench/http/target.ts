import http from "node:http";
import https from "node:https";
import { ServiceError } from "../../src/errors.ts";
import { type BenchRequest, OPERATION_PATHS } from "../workloads/workload.ts";

export interface HttpReply {
  readonly status: number;
  readonly body: string;
}

/** What /health says of a server; of any server of the contract. */
export interface ServerFacts {
  readonly model: string;
  readonly precision: string;
  readonly version: string;
}

/** A server of the contract, met over HTTP only. */
export class Target {
  readonly url: string;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #agent: http.Agent;
  readonly #request: typeof http.request;

  /** @param apiKey sent as `Authorization: Bearer` */
  constructor(url: string, apiKey?: string | undefined) {
    const parsed = parseUrl(url);
    this.url = parsed.href.replace(/\/$/, "");
    this.headers = {
      "content-type": "application/json",
      ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    };
    const isSecure = parsed.protocol === "https:";
    // a connection for each request under way, kept for the next
    this.#agent = isSecure ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true });
    this.#request = isSecure ? https.request : http.request;
  }

  /** One request over a kept connection. Rejects without an answer. */
  send({ operation, body }: BenchRequest): Promise<HttpReply> {
    return this.#exchange("POST", OPERATION_PATHS[operation], body);
  }

  /** @throws ServiceError INTERNAL where no server of the contract answers */
  async facts(): Promise<ServerFacts> {
    const reply = await this.#exchange("GET", "/health").catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message || String(cause) : String(cause);
      throw new ServiceError("INTERNAL", `no server answers at ${this.url}: ${reason}.`, { cause });
    });
    const health: unknown = reply.status === 200 ? JSON.parse(reply.body) : undefined;
    if (typeof health === "object" && health !== null && "model" in health) {
      const { model, precision, version } = health as Record<string, unknown>;
      return { model: String(model), precision: String(precision), version: String(version) };
    }
    throw new ServiceError("INTERNAL", `${this.url}/health answers ${reply.status}: it must be ready.`);
  }

  close(): void {
    this.#agent.destroy();
  }

  #exchange(method: string, path: string, body = ""): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      const headers = { ...this.headers, "content-length": Buffer.byteLength(body) };
      const request = this.#request(
        `${this.url}${path}`,
        { method, headers, agent: this.#agent },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") });
          });
        },
      );
      request.setNoDelay(true);
      request.on("error", reject);
      request.end(body);
    });
  }
}

function parseUrl(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && /^https?:$/.test(parsed.protocol)) return parsed;
  throw new ServiceError(
    "INVALID_OPTION",
    `a server is named like http://127.0.0.1:8700, not ${JSON.stringify(url)}.`,
  );
}
