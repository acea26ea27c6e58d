import { invalidModel, messageOf } from "../../../errors.ts";
import { type Node, pathOf } from "../../../inference/nodes.ts";
import type { BatchScores } from "../../../inference/ports.ts";
import type { PairGraph } from "../../../models/architectures/architecture.ts";
import { float16ToFloat32 } from "../../../onnx/file/float16.ts";
import { InferenceSession, Tensor } from "../runtime/runtime.ts";
import { type Place, sessionOptions } from "../runtime/session-options.ts";
import { BatchTurns } from "./batch-turns.ts";
import type { Runner } from "./model-runner.ts";

/** Inputs of a graph: what a token's number is. Those that a graph does not have are left out. */
const INPUTS = ["input_ids", "attention_mask", "token_type_ids"] as const;
const OPTIONAL: readonly string[] = ["token_type_ids"];
type Input = (typeof INPUTS)[number];

/**
 * Scores pairs with a graph that knows no trees: each pair is one text in a run of its own. In a padded batch, bits would
 * depend on the other pairs, because nothing is known about the order of summation of such a graph.
 */
export class PairRunner implements Runner {
  readonly #session: InferenceSession;
  readonly #graph: PairGraph;
  readonly #inputs: readonly { readonly name: Input; readonly type: "int32" | "int64" }[];
  readonly #turns = new BatchTurns();

  private constructor(session: InferenceSession, graph: PairGraph) {
    this.#session = session;
    this.#graph = graph;
    this.#inputs = inputsOf(session);
    const { type } = tensorOf(session.outputMetadata, graph.output, "output");
    if (type !== "float32" && type !== "float16")
      throw invalid(`has the output ${graph.output} as ${type}, expected float32 or float16`);
  }

  /** @throws ServiceError INVALID_MODEL for a graph with other inputs or outputs, or one that the runtime rejects */
  static async load(graph: PairGraph, threads: number, place?: Place): Promise<PairRunner> {
    const runner = new PairRunner(await open(graph.graph, sessionOptions(threads, place)), graph);
    // shapes are checked at the first run: they may be fixed or undeclared
    for (const ids of samplesOf(graph)) {
      await runner.#run(ids).catch((cause: unknown) => {
        throw invalid(`cannot score a pair of ${ids.length} tokens: ${messageOf(cause)}`, cause);
      });
    }
    return runner;
  }

  score(leaves: readonly Node[]): Promise<BatchScores> {
    return this.#turns.take(() => this.#score(leaves));
  }

  async #score(leaves: readonly Node[]): Promise<BatchScores> {
    const { readings, scale } = this.#graph;
    const scores: number[] = [];
    let forwards = 0;
    let last: { readonly ids: Int32Array; readonly logits: Float32Array } | undefined;
    for (const leaf of leaves) {
      const { ids, isSecond } = plainIds(Int32Array.from(pathOf(leaf).flatMap(({ tokens }) => [...tokens])));
      if (last === undefined || !isSame(ids, last.ids)) {
        last = { ids, logits: await this.#run(ids) };
        forwards += 1;
      }
      const reading = readings[isSecond ? 1 : 0];
      scores.push(reading === null ? 0 : (last.logits[reading ?? -1] ?? Number.NaN) * scale);
    }
    return { scores: Float32Array.from(scores), forwards };
  }

  /** @returns the logits of one pair */
  async #run(ids: Int32Array): Promise<Float32Array> {
    const { maxTokens, output, readings } = this.#graph;
    if (ids.length > maxTokens)
      throw new Error(`a pair has ${ids.length} tokens, but the graph accepts ${maxTokens}`);
    const feeds = this.#inputs.map(({ name, type }): [string, Tensor] => {
      const numbers = this.#numbersOf(name, ids);
      const data = type === "int32" ? numbers : BigInt64Array.from(numbers, BigInt);
      return [name, new Tensor(type, data, [1, ids.length])];
    });
    const results = await this.#session.run(Object.fromEntries(feeds), [output]);
    const logits = floatsOf(results[output]);
    for (const value of Object.values(results)) value.dispose();
    const last = Math.max(...readings.map((reading) => reading ?? 0));
    if (logits.length <= last)
      throw new Error(
        `the output ${output} has ${logits.length} numbers for a pair, expected more than ${last}`,
      );
    return logits;
  }

  #numbersOf(input: Input, ids: Int32Array): Int32Array {
    if (input === "input_ids") return ids;
    if (input === "attention_mask") return new Int32Array(ids.length).fill(1);
    const { separatorId } = this.#graph;
    const end = separatorId === undefined ? -1 : ids.indexOf(separatorId);
    return end === -1 ? new Int32Array(ids.length) : new Int32Array(ids.length).fill(1, end + 1);
  }
}

/** Pairs of two lengths. */
function samplesOf({ sample, maxTokens }: PairGraph): readonly Int32Array[] {
  if (sample === undefined) return [new Int32Array(1), new Int32Array(Math.min(3, maxTokens))];
  return [sample, Int32Array.of(...sample, ...sample.slice(-1))];
}

/** A pair whose last token may be complemented, which asks for the second reading. */
function plainIds(pair: Int32Array): { readonly ids: Int32Array; readonly isSecond: boolean } {
  const last = pair.at(-1) ?? 0;
  return last < 0 ? { ids: pair.with(-1, ~last), isSecond: true } : { ids: pair, isSecond: false };
}

const isSame = (a: Int32Array, b: Int32Array) => a.length === b.length && a.every((id, at) => id === b[at]);

/** @throws ServiceError INVALID_MODEL */
function inputsOf({ inputMetadata }: InferenceSession) {
  const others = inputMetadata.filter(({ name }) => !INPUTS.some((input) => input === name));
  const names = INPUTS.filter(
    (input) => !OPTIONAL.includes(input) || inputMetadata.some(({ name }) => name === input),
  );
  const inputs = names.map((name) => {
    const { type } = tensorOf(inputMetadata, name, "input");
    if (type === "int64" || type === "int32") return { name, type } as const;
    throw invalid(`has the input ${name} as ${type}, expected int64 or int32`);
  });
  if (others[0] !== undefined)
    throw invalid(`has the unknown input ${others[0].name}, expected ${INPUTS.join(", ")}`);
  return inputs;
}

function tensorOf(
  all: readonly InferenceSession.ValueMetadata[],
  name: string,
  what: "input" | "output",
): { readonly type: string } {
  const found = all.find((value) => value.name === name);
  if (!found)
    throw invalid(`has no ${what} ${name}, only ${all.map((value) => value.name).join(", ") || "none"}`);
  return { type: found.isTensor ? found.type : "something other than a tensor" };
}

/** The numbers of an output. Some versions of Node.js have an array type for float16, others give its bits. */
function floatsOf(output: Tensor | undefined): Float32Array {
  const data = output?.data;
  if (data instanceof Float32Array) return data;
  if (ArrayBuffer.isView(data) && output?.type === "float16")
    return float16ToFloat32(new Uint16Array(data.buffer, data.byteOffset, data.byteLength / 2));
  throw new Error("the output must hold float32 or float16 numbers");
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

const invalid = (what: string, cause?: unknown) => invalidModel(`model.onnx ${what}.`, cause);
