import { messageOf, ServiceError } from "../../errors.ts";
import type { Backend, BatchScores } from "../../inference/backend.ts";
import type { Clock } from "../../inference/clock.ts";
import { type Node, nodeBelow } from "../../inference/nodes.ts";
import type { WholeGraph } from "../../models/architectures/whole-graph.ts";
import { WHOLE_TREE_IO as IO } from "../../onnx/token-tree-io.ts";
import { memberOf } from "../../records.ts";
import { type Forward, scoredNodes } from "../tensors/forward.ts";
import { PairScores } from "../tensors/pair-scores.ts";
import { planWhole } from "../tensors/whole-forwards.ts";
import { wholeInputs } from "../tensors/whole-inputs.ts";
import type { Answer, RemoteClient } from "./client.ts";
import { decodeAnswer, encodeRequest, JSON_LENGTH } from "./protocol.ts";

/** Time between two checks whether the server is ready. Chosen. */
const ASK_EACH_MS = 1_000;
/** Failed checks in a row after which the server counts as unavailable. Chosen: a single one may come from one of several replicas. */
const MOST_MISSED = 3;

export interface RemoteBackendOptions {
  readonly client: RemoteClient;
  /** Address without secrets, for messages. */
  readonly url: string;
  /** Name of the model on the server. */
  readonly name: string;
  /** Id and precision of the package, for messages. */
  readonly expected: string;
  /** Describes the graph that the server must hold. */
  readonly graph: () => Promise<WholeGraph>;
  readonly connections: number;
  readonly hasVectors: boolean;
  readonly clock: Clock;
  readonly log: (event: string, details: Record<string, unknown>) => void;
}

/**
 * A server of the Open Inference Protocol that has loaded an exported graph. Each call carries whole trees: the server
 * caches nothing between calls. Each response contains the digest of the graph, so a change of the model is noticed at
 * once.
 */
export class RemoteBackend implements Backend {
  readonly #options: RemoteBackendOptions;
  #graph: WholeGraph | undefined;
  #isBinary = false;
  #missed = 0;
  #isReady = false;
  #hasStarted = false;
  #isClosed = false;
  #onReady: () => void = () => {};
  #cancelAsking: () => void = () => {};
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(options: RemoteBackendOptions) {
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** False once several checks have failed: the server may be gone for long, so requests are refused at once. */
  get isExpected(): boolean {
    return this.#missed < MOST_MISSED;
  }

  onReady(listener: () => void): void {
    this.#onReady = listener;
  }

  async start(): Promise<void> {
    const { url, name } = this.#options;
    this.#graph = await this.#options.graph();
    const ready = await this.#get(`${this.#path}/ready`);
    if (ready.status !== 200) {
      const why = ready.status === 404 || ready.status === 400 ? "has no model of that name" : "is not ready";
      throw failed(`The server at ${url} ${why}: /v2/models/${name}/ready gave ${ready.status}.`);
    }
    const extensions = memberOf(jsonOf(await this.#get("/v2")), "extensions");
    this.#isBinary = Array.isArray(extensions) && extensions.includes("binary_tensor_data");
    await this.score([PROBE]);
    this.#isReady = true;
    this.#hasStarted = true;
    this.#onReady();
    this.#askAgain();
  }

  async score(leaves: readonly Node[]): Promise<BatchScores> {
    const { forwards, scored } = planWhole(leaves, this.#options.connections);
    const results = new PairScores();
    await Promise.all(forwards.map((forward) => this.#inTurn(() => this.#run(forward, results))));
    return { ...results.inOrder(scored), forwards: forwards.length };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isReady = false;
    this.#cancelAsking();
    await this.#options.client.close();
  }

  get #path(): string {
    return `/v2/models/${encodeURIComponent(this.#options.name)}`;
  }

  /** Limits the number of concurrent calls to the number of connections. */
  async #inTurn(run: () => Promise<void>): Promise<void> {
    if (this.#running >= this.#options.connections)
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      await run();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }

  async #run(forward: Forward, results: PairScores): Promise<void> {
    const { client, url, hasVectors } = this.#options;
    const graph = this.#graph;
    if (!graph) throw failed("The backend has not started.");
    const outputs = [IO.scores, IO.digest, ...(hasVectors ? [IO.vectors] : [])];
    const { headers, bytes } = encodeRequest(wholeInputs(forward, graph.shape), outputs, this.#isBinary);
    const answer = await client.post(`${this.#path}/infer`, headers, bytes).catch((cause: unknown) => {
      throw failed(`The request to the server at ${url} failed: ${messageOf(cause)}.`, cause);
    });
    if (answer.status !== 200) {
      // the server's message is repeated only during the start: later it might contain texts of requests
      const why = this.#hasStarted ? "" : saidBy(answer);
      throw failed(`The server at ${url} answered with status ${answer.status}${why}.`);
    }
    const tensors = this.#decode(answer);
    this.#checkDigest(tensors.get(IO.digest)?.data, graph);
    const nodes = scoredNodes(forward);
    const given = tensors.get(IO.scores);
    const isWhole = given?.data instanceof Float32Array && given.shape.length === 1;
    if (!isWhole || given.data.length < Math.max(2, nodes.length) || !given.data.every(Number.isFinite))
      throw failed(`The server at ${url} did not give one finite score for each pair.`);
    if (!hasVectors) return results.record(nodes, given.data);
    const rows = tensors.get(IO.vectors);
    const size = rows?.shape[1] ?? 0;
    if (!(rows?.data instanceof Float32Array) || size === 0 || rows.data.length < nodes.length * size)
      throw failed(`The server at ${url} did not give one vector for each pair.`);
    results.record(nodes, given.data, rows.data.subarray(0, nodes.length * size));
  }

  #decode({ body, header }: Answer) {
    const length = header(JSON_LENGTH);
    try {
      return decodeAnswer(body, length === undefined ? undefined : Number(length));
    } catch (cause) {
      throw failed(
        `The server at ${this.#options.url} gave an answer that cannot be read: ${messageOf(cause)}.`,
        cause,
      );
    }
  }

  #checkDigest(found: unknown, { digest }: WholeGraph): void {
    if (found instanceof Uint8Array && Buffer.compare(found, digest) === 0) return;
    const got = found instanceof Uint8Array ? Buffer.from(found).toString("hex").slice(0, 16) : "none";
    const { name, url, expected } = this.#options;
    throw new ServiceError(
      "INVALID_MODEL",
      `The model ${name} at ${url} is not ${expected}: the digest of its graph is ${got}, expected ${Buffer.from(digest).toString("hex").slice(0, 16)}. Export the right model with: decision model export`,
    );
  }

  async #get(path: string): Promise<Answer> {
    const { client, url } = this.#options;
    return client.get(path).catch((cause: unknown) => {
      throw failed(`The server at ${url} cannot be reached: ${messageOf(cause)}.`, cause);
    });
  }

  #askAgain(): void {
    if (!this.#isClosed) this.#cancelAsking = this.#options.clock.after(ASK_EACH_MS, () => void this.#ask());
  }

  async #ask(): Promise<void> {
    const isReady = await this.#options.client.get(`${this.#path}/ready`).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (this.#isClosed) return;
    this.#missed = isReady ? 0 : this.#missed + 1;
    const isNowReady = isReady || (this.#isReady && this.#missed < MOST_MISSED);
    if (isNowReady !== this.#isReady) {
      this.#isReady = isNowReady;
      this.#options.log(isNowReady ? "remote server is ready" : "remote server is not ready", {
        url: this.#options.url,
      });
      if (isNowReady) this.#onReady();
    }
    this.#askAgain();
  }
}

/** A minimal pair. Scoring it shows that the server computes, and with which graph. */
const PROBE = nodeBelow(
  nodeBelow(nodeBelow(undefined, Int32Array.of(1, 2)), Int32Array.of(3)),
  Int32Array.of(4),
);

/** The error message of a server's response, on one line. */
function saidBy(answer: Answer): string {
  const error = memberOf(jsonOf(answer), "error");
  return typeof error === "string" ? `: ${error.replace(/\s+/g, " ").slice(0, 300).replace(/\.$/, "")}` : "";
}

function jsonOf({ body }: Answer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

const failed = (message: string, cause?: unknown) => new ServiceError("BACKEND_FAILED", message, { cause });
