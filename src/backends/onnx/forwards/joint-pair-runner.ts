import { ServiceError } from "../../../errors.ts";
import type { ForestScores, TokenTree } from "../../../inference/ports.ts";
import type { PairGraph } from "../../../models/architectures/architecture.ts";
import { InferenceSession, Tensor } from "../runtime/runtime.ts";
import { type Place, sessionOptions } from "../runtime/session-options.ts";
import { ForestTurns } from "./forest-turns.ts";
import type { Runner } from "./model-runner.ts";

const INPUTS = ["input_ids", "attention_mask"];
const SCORES = "scores";

/**
 * Scores forests with a graph that knows no trees: each pair is one text in a run of its own. In a padded batch, bits would
 * depend on the other pairs, because nothing is known about the order of summation of such a graph.
 */
export class JointPairRunner implements Runner {
  readonly #session: InferenceSession;
  readonly #maxTokens: number;
  readonly #turns = new ForestTurns();

  private constructor(session: InferenceSession, maxTokens: number) {
    this.#session = session;
    this.#maxTokens = maxTokens;
  }

  /**
   * @throws ServiceError INVALID_MODEL for a graph with other inputs or outputs, or one that the runtime rejects
   */
  static async load(
    { graph, maxTokens }: PairGraph,
    threads: number,
    place?: Place,
  ): Promise<JointPairRunner> {
    const session = await open(graph, sessionOptions(threads, place));
    for (const name of INPUTS) checkTensor(session.inputMetadata, name, "input", "int64");
    const others = session.inputNames.filter((name) => !INPUTS.includes(name));
    if (others.length > 0) throw invalid(`has the unknown input ${others[0]}`);
    checkTensor(session.outputMetadata, SCORES, "output", "float32");
    const runner = new JointPairRunner(session, maxTokens);
    // shapes are checked at the first run: they may be fixed or undeclared
    for (const ids of [Int32Array.of(0), new Int32Array(Math.min(3, maxTokens))]) {
      await runner.#scorePair(ids).catch((cause: unknown) => {
        throw invalid(`cannot score a pair of ${ids.length} tokens: ${messageOf(cause)}`, cause);
      });
    }
    return runner;
  }

  score(forest: readonly TokenTree[]): Promise<ForestScores> {
    return this.#turns.take(() => this.#score(forest));
  }

  async #score(forest: readonly TokenTree[]): Promise<ForestScores> {
    const scores: number[] = [];
    for (const { state, questions } of forest) {
      for (const { tokens, candidates } of questions) {
        for (const candidate of candidates) {
          scores.push(await this.#scorePair(Int32Array.from([...state, ...tokens, ...candidate])));
        }
      }
    }
    return { scores: Float32Array.from(scores), forwards: scores.length };
  }

  async #scorePair(ids: Int32Array): Promise<number> {
    if (ids.length > this.#maxTokens)
      throw new Error(`a pair has ${ids.length} tokens, but the graph accepts ${this.#maxTokens}`);
    const tensor = (values: BigInt64Array) => new Tensor("int64", values, [1, ids.length]);
    const results = await this.#session.run(
      {
        input_ids: tensor(BigInt64Array.from(Array.from(ids, BigInt))),
        attention_mask: tensor(new BigInt64Array(ids.length).fill(1n)),
      },
      [SCORES],
    );
    const data = results[SCORES]?.data;
    if (!(data instanceof Float32Array) || data.length !== 1)
      throw new Error(`the output ${SCORES} must have one float32 for each pair`);
    const [score = Number.NaN] = data;
    for (const value of Object.values(results)) value.dispose();
    return score;
  }
}

function checkTensor(
  all: readonly InferenceSession.ValueMetadata[],
  name: string,
  what: "input" | "output",
  type: Tensor.Type,
): void {
  const found = all.find((value) => value.name === name);
  if (!found) throw invalid(`has no ${what} ${name}`);
  const foundType = found.isTensor ? found.type : "something other than a tensor";
  if (foundType !== type) throw invalid(`has the ${what} ${name} as ${foundType}, expected ${type}`);
}

async function open(
  graph: Uint8Array | string,
  options: InferenceSession.SessionOptions,
): Promise<InferenceSession> {
  try {
    return typeof graph === "string"
      ? await InferenceSession.create(graph, options)
      : await InferenceSession.create(graph, options);
  } catch (cause) {
    throw invalid(`is rejected by ONNX Runtime: ${messageOf(cause)}`, cause);
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function invalid(what: string, cause?: unknown): ServiceError {
  return new ServiceError("INVALID_MODEL", `model.onnx ${what}.`, { cause });
}
