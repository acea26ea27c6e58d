import * as http from "node:http";
import * as https from "node:https";
import { headerFields, NoAnswer, type Reply, type SentRequest } from "./exchange.ts";
import { readJson } from "./json.ts";
import { endpointOf, lateness, pathOf, type Target } from "./target.ts";

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  readonly signal: AbortSignal;
  /** Overrides the target's timeout. */
  readonly timeoutMs?: number | undefined;
}

/** Size limit of an answer, above any answer of the contract. A larger one is aborted. Chosen. */
const MOST_BYTES = 16 * 2 ** 20;

/** An HTTP/1.1 client with keep-alive. */
export class HttpClient {
  readonly #target: Target;
  readonly #agent: http.Agent;
  readonly #request: typeof http.request;

  constructor(target: Target) {
    this.#target = target;
    const isTls = target.base.protocol === "https:";
    this.#agent = isTls
      ? new https.Agent({ keepAlive: true, maxSockets: 512 })
      : new http.Agent({ keepAlive: true, maxSockets: 512 });
    this.#request = isTls ? https.request : http.request;
  }

  /** @throws NoAnswer */
  async call(call: Call): Promise<Reply> {
    try {
      return await this.#once(call);
    } catch (error) {
      // A server may close an idle connection just as it is reused, which is not an error (RFC 9112, 9.5).
      if (error instanceof StaleConnection) return await this.#once(call, false);
      throw error;
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #once({ method, path, headers, body, signal, ...call }: Call, isKept = true): Promise<Reply> {
    const { base, socketPath } = this.#target;
    const timeoutMs = call.timeoutMs ?? this.#target.timeoutMs;
    const url = `${base.origin}${pathOf(this.#target, path)}`;
    const request: SentRequest = { method, url, path: path.split("?", 1)[0], headers, body, socketPath };
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      const fail = (message: string, cause?: unknown) => {
        clearTimeout(timer);
        reject(new NoAnswer(message, request, { cause }));
        outgoing.destroy();
      };
      const outgoing = this.#request({
        ...(socketPath === undefined ? endpointOf(this.#target) : { socketPath }),
        method,
        path: pathOf(this.#target, path),
        headers: {
          host: base.host,
          "accept-encoding": "identity",
          ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
          ...headers,
        },
        agent: isKept ? this.#agent : false,
        signal,
      });
      const timer = setTimeout(() => fail(lateness({ timeoutMs })), timeoutMs);
      outgoing.on("error", (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        const isStale = outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
        if (isStale && isKept) reject(new StaleConnection());
        else if (signal.aborted) reject(signal.reason);
        else fail(reasonOf(error), error);
      });
      outgoing.on("upgrade", () => fail("the server switched to another protocol"));
      outgoing.on("response", (incoming) => {
        const chunks: Buffer[] = [];
        let size = 0;
        incoming.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > MOST_BYTES) fail(`an answer of more than ${MOST_BYTES} bytes`);
        });
        incoming.on("error", (error) =>
          fail(`the connection closed after ${size} bytes of the answer`, error),
        );
        incoming.on("end", () => {
          clearTimeout(timer);
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({
            request,
            status: incoming.statusCode ?? 0,
            headers: headerFields(pairsOf(incoming.rawHeaders)),
            text,
            json: readJson(text),
            elapsedMs: performance.now() - startedAt,
          });
        });
      });
      outgoing.end(body);
    });
  }
}

class StaleConnection extends Error {}

function reasonOf(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case "ECONNREFUSED":
      return "nothing listens at that address (connection refused)";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "the host name cannot be resolved";
    case "ECONNRESET":
    case "EPIPE":
      return "the connection closed before an answer";
    default:
      break;
  }
  if (error.code?.startsWith("HPE_")) return `the answer is not HTTP/1.1 (${error.message})`;
  if (error.code?.startsWith("ERR_SSL") || error.code === "EPROTO") return "the server does not use TLS";
  return error.message || String(error.code ?? error);
}

/** Pairs of name and value from Node's flat list of raw headers. */
export function pairsOf(raw: readonly string[]): readonly (readonly [string, string])[] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ""] as const] : []));
}
