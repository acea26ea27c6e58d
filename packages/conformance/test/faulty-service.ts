import { readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { createContractFor, createDialectsFor } from "../../../src/app.ts";
import type { Contract, IncomingCall, OutgoingReply } from "../../../src/contract/call.ts";
import type { RenderedRequest } from "../../../src/decisions/request.ts";
import { systemClock } from "../../../src/inference/clock.ts";
import type { Engine, EngineHealth, ScoredRequest } from "../../../src/inference/engine.ts";
import { openMcpEndpoint } from "../../../src/mcp/service.ts";
import { createServer } from "../../../src/server/server.ts";
import { packageRoot } from "../../../test/support/package-root.ts";
import { sentBytes } from "../../../test/support/sent-bytes.ts";
import { pairsOf } from "../src/client/http.ts";
import { createFastEngine, type FastEngineParts } from "./fast-engine.ts";
import { readTree, type TreeMap, writeTree } from "./tree.ts";

interface BytesCall extends IncomingCall {
  readonly body: Uint8Array;
}

/** A fault in an otherwise correct service. Each member is a place to plant one. */
export interface Fault {
  /** Changes the text of a request before it is read. */
  readonly request?: (text: string, operation: string) => string;
  /** Changes the texts for the model. */
  readonly texts?: (request: RenderedRequest) => RenderedRequest;
  /** Time that the model takes at least, in milliseconds. Makes a wrong unit of time visible. */
  readonly takesMs?: number;
  /** Changes the model's scores. */
  readonly scores?: (scored: ScoredRequest, request: RenderedRequest) => ScoredRequest;
  /** Changes a 200 answer in place. The request is `{}` if it has no body. */
  readonly answer?: (body: TreeMap, operation: string, request: string) => void;
  /** Changes an answer of the contract, of any status; `again` asks the same operation with another body. */
  readonly reply?: (
    reply: OutgoingReply,
    call: BytesCall,
    again: (body: string) => Promise<OutgoingReply>,
  ) => OutgoingReply | Promise<OutgoingReply>;
  /** Changes any answer in place just before it is written. */
  readonly send?: (answer: WireAnswer, request: IncomingMessage) => void;
  /** Called before a request's body. @returns true if it has answered the request */
  readonly early?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Whether a media type is accepted that should not be. */
  readonly takesAnyType?: boolean;
  readonly health?: (health: EngineHealth) => EngineHealth;
  /** Plants the fault on the server. @returns a function that removes it */
  readonly plant?: (app: FastifyInstance) => () => void;
}

/** An answer as it goes out; `body` undefined where it is streamed. */
export interface WireAnswer {
  status: number;
  readonly headers: Record<string, string>;
  body: string | undefined;
}

export const KEY = "the-key-of-the-faults";

/** The service with an instant fake model and at most one planted fault. */
export class FaultyService {
  fault: Fault = {};
  readonly url: string;
  readonly #app: FastifyInstance;
  #unplant: () => void = () => {};

  private constructor(app: FastifyInstance, url: string) {
    this.#app = app;
    this.url = url;
  }

  static async start({
    apiKey,
    cacheSize,
    ...parts
  }: { apiKey?: string; cacheSize?: number } & FastEngineParts = {}): Promise<FaultyService> {
    let current: Fault = {};
    const engine = await createFastEngine(cacheSize, parts);
    const faulty = wrapEngine(engine, () => current);
    const contract = wrapContract(await createContractFor(faulty), () => current);
    const dialects = (await createDialectsFor(faulty)).map((dialect) => ({
      ...dialect,
      contract: wrapContract(dialect.contract, () => current),
    }));
    const { version } = JSON.parse(readFileSync(path.join(packageRoot, "package.json"), "utf8"));
    const silent = () => {};
    const log = { debug: silent, info: silent, warn: silent, error: silent };
    const app = await createServer({
      contract,
      dialects,
      version,
      apiKey,
      log,
      openMcp: () => openMcpEndpoint(contract, log),
      limits: {
        maxBodyBytes: 2_097_152,
        bodyMemoryBytes: 67_108_864,
        deadlineMs: 60_000,
        maxConnections: 2048,
        headersTimeoutMs: 20_000,
      },
      admission: engine,
      clock: systemClock,
    });
    meddle(app.server, () => current);
    await app.listen({ host: "127.0.0.1", port: 0 });
    const { port } = app.server.address() as AddressInfo; // a TCP listener's address is an AddressInfo
    const service = new FaultyService(app, `http://127.0.0.1:${port}`);
    Object.defineProperty(service, "fault", { get: () => current, set: (fault: Fault) => (current = fault) });
    return service;
  }

  /** Plants a fault in place of the previous one. */
  plant(fault: Fault): void {
    this.#unplant();
    this.fault = fault;
    this.#unplant = fault.plant?.(this.#app) ?? (() => {});
  }

  async stop(): Promise<void> {
    this.#unplant();
    this.#app.server.closeAllConnections();
    await this.#app.close();
  }
}

function wrapEngine(engine: Engine, fault: () => Fault): Engine {
  return {
    model: engine.model,
    async score(request, signal, options) {
      const { texts, scores, takesMs } = fault();
      if (takesMs !== undefined) await setTimeout(takesMs);
      const shown = texts === undefined ? request : texts(request);
      const scored = await engine.score(shown, signal, options);
      return scores === undefined ? scored : scores(scored, request);
    },
    scoreAll: (job, signal, options) => engine.scoreAll(job, signal, options),
    read: (request, signal) => engine.read(request, signal),
    health() {
      const health = engine.health();
      return fault().health?.(health) ?? health;
    },
  };
}

function wrapContract(contract: Contract, fault: () => Fault): Contract {
  return {
    ...contract,
    checkMediaType(headers) {
      if (fault().takesAnyType !== true) contract.checkMediaType(headers);
    },
    async call(incoming) {
      const call = { ...incoming, body: sentBytes(incoming) };
      const { request, answer, reply } = fault();
      const text = Buffer.from(call.body).toString("utf8");
      const changed = request === undefined ? text : request(text, call.operationId);
      const body = changed === text ? call.body : Buffer.from(changed); // bytes that are no UTF-8 stay as they are
      let outgoing = await contract.call({ ...call, body });
      if (answer !== undefined && outgoing.status === 200) {
        const tree = readTree(outgoing.body);
        if (tree instanceof Map) answer(tree, call.operationId, text === "" ? "{}" : text);
        outgoing = { ...outgoing, body: writeTree(tree) };
      }
      if (reply === undefined) return outgoing;
      return await reply(outgoing, call, (text) => contract.call({ ...call, body: Buffer.from(text) }));
    },
  };
}

/** Steps between Node's server and the application. */
function meddle(server: Server, fault: () => Fault): void {
  const [listener] = server.listeners("request");
  if (listener === undefined) throw new Error("the server has no listener");
  for (const event of ["request", "checkContinue"]) {
    server.removeAllListeners(event);
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      const { early, send } = fault();
      if (early?.(request, response) === true) return;
      if (send !== undefined) holdHead(response, (answer) => send(answer, request));
      listener.call(server, request, response);
    });
  }
}

/** Lets head and body be changed together: the head waits for the first bytes of the body. */
function holdHead(response: ServerResponse, change: (answer: WireAnswer) => void): void {
  const { writeHead, write, end } = response;
  let held: WireAnswer | undefined;
  const release = (body: string | undefined): string | undefined => {
    const answer = held;
    if (answer === undefined) return body;
    held = undefined;
    answer.body = body;
    change(answer);
    if (answer.body !== body) answer.headers["content-length"] = String(Buffer.byteLength(answer.body ?? ""));
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    writeHead.call(response, answer.status, answer.headers);
    return answer.body;
  };
  const patched = {
    writeHead(status: number, fields: Record<string, unknown> | readonly string[] = {}) {
      const own = Array.isArray(fields) ? pairsOf(fields) : Object.entries(fields);
      const all = [...Object.entries(response.getHeaders()), ...own];
      const headers = Object.fromEntries(all.map(([name, value]) => [name.toLowerCase(), String(value)]));
      held = { status, headers, body: undefined };
      return response;
    },
    write(chunk: Uint8Array, ...rest: unknown[]) {
      if (held === undefined && !response.headersSent) patched.writeHead(response.statusCode); // as streams have it
      release(undefined);
      return Reflect.apply(write, response, [chunk, ...rest]);
    },
    end(chunk?: unknown, ...rest: unknown[]) {
      const isText = typeof chunk === "string" || chunk instanceof Uint8Array; // else null, with HEAD
      const before = isText ? Buffer.from(chunk).toString("utf8") : undefined;
      const body = release(before);
      return Reflect.apply(end, response, [body === before ? chunk : body, ...rest]);
    },
  };
  Object.assign(response, patched);
}
