import { EventEmitter, once } from "node:events";
import * as net from "node:net";
import * as tls from "node:tls";
import { type HeaderFields, headerFields, NoAnswer, type Reply, type SentRequest } from "./exchange.ts";
import { readJson } from "./json.ts";
import { endpointOf, lateness, pathOf, type Target } from "./target.ts";

/** A raw connection that sends given bytes and reads answers one by one. */
export class Wire {
  readonly #target: Target;
  readonly #socket: net.Socket;
  readonly #sent: Buffer[] = [];
  /** Tells of received bytes and of the end; not the socket itself, since `once` would throw its errors too early. */
  readonly #news = new EventEmitter();
  #received = Buffer.alloc(0);
  #isEnded = false;

  private constructor(target: Target, socket: net.Socket) {
    this.#target = target;
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#news.emit("progress");
    });
    const end = () => {
      this.#isEnded = true;
      this.#news.emit("progress");
    };
    socket.on("end", end);
    socket.on("close", end);
    socket.on("error", end); // `read` reports answers that are missing because of the error
  }

  /** @throws NoAnswer */
  static async open(target: Target): Promise<Wire> {
    const { timeoutMs, socketPath } = target;
    const isTls = target.base.protocol === "https:";
    const { host, port } = endpointOf(target);
    const place = socketPath === undefined ? { host, port } : { path: socketPath };
    const socket = isTls
      ? tls.connect({ host, port, servername: net.isIP(host) ? "" : host })
      : net.connect({ ...place, allowHalfOpen: true });
    try {
      await once(socket, isTls ? "secureConnect" : "connect", { signal: AbortSignal.timeout(timeoutMs) });
    } catch (cause) {
      socket.destroy();
      throw new NoAnswer("no connection could be opened", undefined, { cause });
    }
    return new Wire(target, socket);
  }

  send(...parts: readonly (string | Uint8Array)[]): void {
    for (const part of parts) {
      this.#sent.push(Buffer.from(part));
      if (!this.#isEnded) this.#socket.write(part);
    }
  }

  /** Reads the next final or interim answer. @throws NoAnswer if the connection closes first, or on timeout */
  async read(method = "GET"): Promise<Reply> {
    const answer = await this.readOrEnd(method);
    if (answer === undefined) throw new NoAnswer("the connection closed without an answer", this.request());
    return answer;
  }

  /** Reads the next answer; undefined if the connection closes without one. @throws NoAnswer on timeout */
  async readOrEnd(method = "GET"): Promise<Reply | undefined> {
    const startedAt = performance.now();
    for (;;) {
      const answer = this.#take(method, performance.now() - startedAt);
      if (answer !== undefined) return answer;
      if (this.#isEnded && this.#received.length > 0)
        throw new NoAnswer(`the connection closed within an answer: ${this.#beginning()}`, this.request());
      if (this.#isEnded) return undefined;
      await this.#progress(startedAt);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  /** All bytes sent on this connection, as one request. */
  request(): SentRequest {
    const { base, socketPath } = this.#target;
    return { method: "", url: base.href, headers: {}, raw: Buffer.concat(this.#sent), socketPath };
  }

  async #progress(startedAt: number): Promise<void> {
    const left = Math.ceil(Math.max(0, this.#target.timeoutMs - (performance.now() - startedAt)));
    try {
      await once(this.#news, "progress", { signal: AbortSignal.timeout(left) });
    } catch {
      throw new NoAnswer(lateness(this.#target), this.request());
    }
  }

  #beginning(): string {
    return JSON.stringify(this.#received.subarray(0, 200).toString("latin1"));
  }

  #take(method: string, elapsedMs: number): Reply | undefined {
    const split = this.#received.indexOf("\r\n\r\n");
    if (split < 0) return undefined;
    const [statusLine = "", ...lines] = this.#received.subarray(0, split).toString("latin1").split("\r\n");
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(statusLine)?.[1]);
    if (Number.isNaN(status))
      throw new NoAnswer(
        `the answer is not HTTP/1.1: ${JSON.stringify(statusLine.slice(0, 200))}`,
        this.request(),
      );
    const headers = headerFields(lines.map(fieldOf));
    const hasBody = status >= 200 && status !== 204 && status !== 304 && method !== "HEAD";
    const rest = this.#received.subarray(split + 4);
    const body = hasBody ? bodyOf(headers, rest, this.#isEnded) : { bytes: Buffer.alloc(0), length: 0 };
    if (body === undefined) return undefined;
    this.#received = rest.subarray(body.length);
    const text = body.bytes.toString("utf8");
    return { request: this.request(), status, headers, text, json: readJson(text), elapsedMs };
  }
}

/** Name and value of a header line. */
function fieldOf(line: string): readonly [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

/** The body at the beginning of `rest` and its length there in bytes; undefined while it is incomplete. */
function bodyOf(headers: HeaderFields, rest: Buffer, isEnded: boolean) {
  if (/\bchunked\b/i.test(headers["transfer-encoding"] ?? "")) return chunkedBody(rest);
  const declared = headers["content-length"];
  if (declared === undefined) return isEnded ? { bytes: rest, length: rest.length } : undefined;
  const length = Number(declared);
  return rest.length < length ? undefined : { bytes: rest.subarray(0, length), length };
}

function chunkedBody(rest: Buffer): { bytes: Buffer; length: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = rest.indexOf("\r\n", at);
    if (line < 0) return undefined;
    const size = Number.parseInt(rest.subarray(at, line).toString("latin1"), 16);
    const end = line + 2 + size + 2;
    if (Number.isNaN(size) || rest.length < end) return undefined;
    if (size === 0) return { bytes: Buffer.concat(chunks), length: end };
    chunks.push(rest.subarray(line + 2, line + 2 + size));
    at = end;
  }
}

/** The head of a request: request line (from `GET /health`), Host, and the given lines. */
export function headOf(target: Target, line: string, ...lines: readonly string[]): string {
  const [method = "", path = ""] = line.split(" ");
  const requestLine = `${method} ${pathOf(target, path)} HTTP/1.1`;
  return [requestLine, `Host: ${target.base.host}`, ...lines, "", ""].join("\r\n");
}
