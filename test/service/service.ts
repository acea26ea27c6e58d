import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  assertDeclared,
  assertPlaces,
  assertProtocolError,
  isProtocolError,
  OPERATIONS,
} from "../contract/response-check.ts";
import { packageRoot } from "../support/package-root.ts";

export const TEMPERATURE = 4.136820402388508;
/** A failure, not a measurement: machines that run tests may be busy. */
const MOST_WAIT_MS = 60_000;
/** Marker word for values. No error may repeat it. */
export const MARK = "xyzzymark";
export const KEY = "the-key-of-the-tests";

export type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface Issue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly cached_pairs: number;
}
export interface Answer {
  readonly type: "choice" | "noul" | "score";
  readonly choice?: string;
  readonly noul?: number;
  readonly score?: number;
  readonly probabilities: Readonly<Record<string, number>>;
  readonly confidence: number;
  readonly scores: Readonly<Record<string, number>>;
}
export interface Row {
  readonly rank: number;
  readonly candidate: string;
  readonly text: string;
  readonly score: number;
  readonly probability: number;
}
/** What a body may hold; which of it does hold is checked against the contract by `call`. */
export interface Body {
  readonly answers: Readonly<Record<string, Answer>>;
  readonly ranked: readonly Row[];
  readonly usage: Usage;
  readonly model: string;
  readonly temperature: number;
  readonly probabilities_source: string;
  readonly latency_ms: number;
  readonly detail: string | readonly Issue[];
  readonly [member: string]: unknown;
}
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Body;
}
export interface Call {
  /** Strings and bytes are sent as they are, everything else as JSON. */
  readonly body?: unknown;
  /** Instead of `content-type: application/json` where there is a body. */
  readonly headers?: Headers;
  readonly signal?: AbortSignal;
}

/** Asks a service over HTTP. */
export abstract class Client {
  readonly port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 48 });

  constructor(port: number) {
    this.port = port;
  }

  /** Ends the service. */
  abstract stop(): Promise<unknown>;

  protected hangUp(): void {
    this.#agent.destroy();
  }

  /** One request; its answer is checked against the contract and for the mark. */
  async call(method: string, target: string, { body, headers, signal }: Call = {}): Promise<Reply> {
    const bytes = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
    const reply = await new Promise<Reply>((resolve, reject) => {
      const outgoing = request({
        host: "127.0.0.1",
        port: this.port,
        method,
        path: target,
        agent: this.#agent,
        ...(signal === undefined ? {} : { signal }),
        headers: {
          ...(bytes === undefined ? {} : { "content-length": Buffer.byteLength(bytes) }),
          ...(headers ?? (bytes === undefined ? {} : { "content-type": "application/json" })),
        },
      });
      outgoing.on("error", reject);
      outgoing.on("response", (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const isJson = incoming.headers["content-type"]?.startsWith("application/json") === true;
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text,
            body: isJson && text !== "" ? JSON.parse(text) : text,
          });
        });
      });
      outgoing.end(bytes);
    });
    assertReply(method, target, reply);
    if (reply.status === 422) assertPlaces(Buffer.from(bytes ?? "").toString("utf8"), reply.body);
    return reply;
  }

  async post(target: string, body: unknown, headers?: Headers): Promise<Reply> {
    return await this.call("POST", target, headers === undefined ? { body } : { body, headers });
  }

  /** An inference that must succeed. */
  async decide(body: unknown, target = "/v1/systemone"): Promise<Body> {
    const reply = await this.post(target, body);
    assert.equal(reply.status, 200, reply.text.slice(0, 500));
    return reply.body;
  }

  async rank(body: unknown): Promise<Body> {
    return await this.decide(body, "/v1/rank");
  }

  /** Raw scores of a ranking, in request order of the labels "0".."n-1". */
  async rankScores(state: unknown, question: unknown, candidates: readonly string[]): Promise<number[]> {
    const { ranked } = await this.rank({ state, question, candidates });
    return candidates.map((_, index) => {
      const row = ranked.find(({ candidate }) => candidate === String(index));
      assert.ok(row);
      return row.score;
    });
  }

  /** A request that must end in a 422. @returns its issues */
  async refused(target: string, body: unknown, headers?: Headers): Promise<readonly Issue[]> {
    const reply = await this.post(target, body, headers);
    assert.equal(reply.status, 422, reply.text.slice(0, 500));
    assert.ok(typeof reply.body.detail === "object");
    return reply.body.detail;
  }

  async health(): Promise<Readonly<Record<string, number | string>>> {
    return JSON.parse((await this.call("GET", "/health")).text);
  }

  /** Polls `/health` until the condition holds. */
  async until(isSo: (health: Readonly<Record<string, number | string>>) => boolean): Promise<void> {
    const end = Date.now() + MOST_WAIT_MS;
    for (;;) {
      const health = await this.health();
      if (isSo(health)) return;
      assert.ok(Date.now() < end, `waited in vain: ${JSON.stringify(health)}`);
      await sleep(5);
    }
  }
}

/** The service as users run it: a separate process, used over HTTP only. */
export class Service extends Client {
  readonly process: ChildProcess;
  /** The text written to stderr so far. */
  log = "";

  private constructor(child: ChildProcess, port: number) {
    super(port);
    this.process = child;
    child.stderr?.on("data", (chunk) => {
      this.log += chunk;
    });
  }

  /** Starts the service on a free port. Resolves when it is ready. */
  static async start(flags: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
    const port = await freePort();
    const service = new Service(Service.#spawn(["--port", String(port), ...flags], env), port);
    const { process: child } = service;
    const { stdout } = child;
    assert.ok(stdout);
    const [line] = await Promise.race([
      once(stdout, "data"),
      once(child, "exit").then(([code]) =>
        assert.fail(`ended with ${code} before it was ready: ${service.log}`),
      ),
    ]);
    assert.match(String(line), new RegExp(`:${port}\\b`));
    return service;
  }

  /** The same, resolved as soon as the port accepts connections. */
  static async startUnready(
    flags: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<Service> {
    const port = await freePort();
    const service = new Service(Service.#spawn(["--port", String(port), ...flags], env), port);
    for (;;) {
      try {
        await service.call("GET", "/v1/models");
        return service;
      } catch {
        assert.equal(service.process.exitCode, null);
        await sleep(2);
      }
    }
  }

  static #spawn(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
    const { DECISION_API_KEY: _, ...inherited } = process.env;
    return spawn(process.execPath, [path.join(packageRoot, "bin/decision.js"), "serve", ...args], {
      cwd: packageRoot,
      env: { ...inherited, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /** Waits for the log, which the service writes behind its replies. */
  async untilLogged(isSo: (log: string) => boolean): Promise<void> {
    const end = Date.now() + MOST_WAIT_MS;
    while (!isSo(this.log)) {
      assert.ok(Date.now() < end, `waited in vain: ${this.log}`);
      await sleep(5);
    }
  }

  /** Ends it with SIGTERM. @returns its exit code */
  async stop(): Promise<number | null> {
    this.hangUp();
    if (this.process.exitCode !== null) return this.process.exitCode;
    const ended = once(this.process, "exit");
    this.process.kill("SIGTERM");
    const timer = setTimeout(() => this.process.kill("SIGKILL"), 15_000);
    const [code] = await ended;
    clearTimeout(timer);
    return code;
  }
}

export function assertReply(
  method: string,
  target: string,
  reply: Pick<Reply, "status" | "headers" | "text" | "body">,
): void {
  const { status, headers, text, body } = reply;
  if (status >= 400) assert.ok(!text.includes(MARK), `${status} repeats a value: ${text.slice(0, 500)}`);
  if (status === 204 || method === "HEAD" || status < 200) return;
  const operation = OPERATIONS[`${method} ${pathOf(target)}`];
  if (operation !== undefined && !isProtocolError(headers as Readonly<Record<string, string>>)) {
    assertDeclared(operation, status, headers as Readonly<Record<string, string>>, body); // Node joins values
  } else if (status >= 400) assertProtocolError(status, headers as Readonly<Record<string, string>>, body);
}

/** The path of a request target. */
function pathOf(target: string): string {
  try {
    return decodeURIComponent(target.split(/[?#]/)[0] ?? "");
  } catch {
    return target;
  }
}

/** Words of one token each. */
export function words(count: number, word = "go"): string {
  return Array.from({ length: count }, () => word).join(" ");
}

/** Distinct candidates, each of `tokens` tokens without special ones. */
export function candidates(count: number, tokens = 1): string[] {
  return Array.from({ length: count }, (_, index) => [index, words(tokens - 1)].join(" ").trim());
}

/** Keeps the model busy for about half a second a part on two cores; at most 50 parts. */
export function heavy(parts: number, seed = 0): object {
  return {
    state: `heavy ${seed}`,
    questions: Object.fromEntries(
      Array.from({ length: 4 }, (_, index) => [
        `q${index}`,
        { type: "score", instructions: `part ${index}`, criteria: candidates(64, 15 * parts) },
      ]),
    ),
  };
}

export const NOUL = { type: "noul", instructions: "Is it late?" };
export const SMALL = { state: "The parcel is here.", questions: { q: NOUL } };
export const SMALL_RANK = { state: "The parcel is here.", candidates: ["early", "late"] };

export function answerOf(body: Body, name: string): Answer {
  const answer = body.answers[name];
  assert.ok(answer, `there is no answer ${name}`);
  return answer;
}

/** Names of the members of the object that follows `"member":`, in the order of the text. */
export function namesIn(text: string, member: string): string[] {
  const start = text.indexOf(`${JSON.stringify(member)}:{`);
  assert.ok(start >= 0, `no object ${member}`);
  const names: string[] = [];
  let depth = 0;
  const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;
  token.lastIndex = start + JSON.stringify(member).length + 1;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    if (found[0] === "{" || found[0] === "[") depth += 1;
    else if (found[0] === "}" || found[0] === "]") depth -= 1;
    else if (depth === 1 && found[1] !== undefined)
      names.push(JSON.parse(found[0].slice(0, -found[1].length)));
    if (depth === 0) break;
  }
  return names;
}

export function close(actual: number | undefined, expected: number, tolerance: number, what = ""): void {
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) <= tolerance,
    `${what} ${actual} is not ${expected}`,
  );
}

/** A free port outside the ranges from which systems take ports for outgoing connections and for port 0, so that no other test gets it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
