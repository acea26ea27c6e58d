import type { Node } from "../../../inference/nodes.ts";
import { TOKEN_TREE_IO as IO } from "../../../onnx/token-tree-io.ts";
import { type Forward, type ForwardTask, scoredNodes, tokenCount } from "../../tensors/forward.ts";
import { cutTokens, type KeyValues } from "../../tensors/key-values.ts";
import type { TensorData } from "../../tensors/tensor-data.ts";
import type { TreeModel } from "../../tensors/tree-model.ts";
import { InferenceSession, Tensor } from "../runtime/runtime.ts";
import { type Place, sessionOptions } from "../runtime/session-options.ts";

export interface ForwardResult {
  /** [scored nodes] in the order of `scoredNodes` */
  readonly scores: Float32Array;
  /** [scored nodes, size]; only from graphs that have this output */
  readonly vectors?: Float32Array;
  /** Keys and values of the requested nodes, in the same order. */
  readonly keyValues: readonly KeyValues[];
}

/** Keys and values of the past nodes of forwards. */
export type Encoded = ReadonlyMap<Node, KeyValues>;

/** A loaded token-tree graph. Runs one forward at a time. */
export class ForwardRunner {
  readonly #session: InferenceSession;
  readonly #model: TreeModel;
  readonly #hasVectors: boolean;

  private constructor(session: InferenceSession, model: TreeModel) {
    this.#session = session;
    this.#model = model;
    this.#hasVectors = session.outputNames.includes(IO.vectors);
  }

  /**
   * @param graph   bytes of the ONNX file, or its path
   * @param threads threads of a run
   */
  static async load(
    graph: Uint8Array | string,
    model: TreeModel,
    threads: number,
    place?: Place,
  ): Promise<ForwardRunner> {
    const options = sessionOptions(threads, place);
    const session =
      typeof graph === "string"
        ? await InferenceSession.create(graph, options)
        : await InferenceSession.create(graph, options);
    return new ForwardRunner(session, model);
  }

  async run(task: ForwardTask, encoded: Encoded): Promise<ForwardResult> {
    const { forward, wanted } = task;
    const { feeds, begins, prefixTokens } = this.#model.inputs(task, (node) => {
      const keyValues = encoded.get(node);
      if (!keyValues) throw new Error("a node is used before it is encoded");
      return keyValues;
    });
    const fetches: Record<string, Tensor | null> = { [IO.scores]: null };
    if (this.#hasVectors) fetches[IO.vectors] = null;
    for (const outputs of new Set(wanted.map((node) => outputsOf(forward, node))))
      Object.assign(fetches, this.#places(outputs, prefixTokens));
    const results = await this.#session.run(tensorsOf(feeds), fetches);
    const count = scoredNodes(forward).length;
    return {
      scores: float32(results, IO.scores).slice(0, count),
      ...(this.#hasVectors && { vectors: firstRows(results, IO.vectors, count) }),
      keyValues: wanted.map((node) => this.#cut(results, forward, node, begins.get(node) ?? 0)),
    };
  }

  /**
   * Output buffers for keys and values, allocated here if their size is known. ONNX Runtime never returns the memory that
   * it has allocated itself.
   */
  #places(outputs: typeof OF_PREFIX, prefixTokens: number | undefined): Record<string, Tensor | null> {
    const { heads, size, valueSize, layers } = this.#model.keyValues;
    const tokens = outputs === OF_PREFIX ? prefixTokens : undefined;
    const place = (inner: number, ...dims: number[]) =>
      tokens === undefined ? null : new Tensor("float32", new Float32Array(heads * tokens * inner), dims);
    return Object.fromEntries(
      Array.from({ length: layers }, (_, layer) => [
        [outputs.keys(layer), place(size, heads, size, tokens ?? 0)],
        [outputs.values(layer), place(valueSize, heads, tokens ?? 0, valueSize)],
      ]).flat(),
    );
  }

  /** A node's keys and values from a forward's results. @param at its first position among the new tokens */
  #cut(results: InferenceSession.ReturnType, forward: Forward, node: Node, at: number): KeyValues {
    const { heads, size, valueSize, layers } = this.#model.keyValues;
    const outputs = outputsOf(forward, node);
    const begin = outputs === OF_PREFIX ? at : at - tokenCount(forward.newPrefix);
    const end = begin + node.tokens.length;
    const each = (name: (layer: number) => string, outer: number, inner: number) =>
      Array.from({ length: layers }, (_, layer) =>
        cutTokens(float32(results, name(layer)), { outer, inner, begin, end }),
      );
    const keys = each(outputs.keys, heads * size, 1);
    return { tokens: node.tokens.length, keys, values: each(outputs.values, heads, valueSize) };
  }
}

/** Keys and values of new prefix nodes are separate outputs. A state is usually alone there, so no copy is needed. */
const OF_PREFIX = { keys: IO.prefixKeys, values: IO.prefixValues };
const OF_REST = { keys: IO.keys, values: IO.values };
/** Output and position of a new node's keys and values. */
const outputsOf = ({ newPrefix }: Forward, node: Node) => (newPrefix.includes(node) ? OF_PREFIX : OF_REST);

/** Converts inputs to tensors of ONNX Runtime. An input used twice becomes one tensor, because creating one takes 2 us. */
export function tensorsOf(feeds: Readonly<Record<string, TensorData>>): Record<string, Tensor> {
  const made = new Map<TensorData, Tensor>();
  const all: Record<string, Tensor> = {};
  for (const [name, given] of Object.entries(feeds)) {
    const tensor = made.get(given) ?? new Tensor(given.type, given.data, given.dims);
    made.set(given, tensor);
    all[name] = tensor;
  }
  return all;
}

/** @returns [rows, size] */
function firstRows(results: InferenceSession.ReturnType, name: string, rows: number): Float32Array {
  const [, size = 0] = results[name]?.dims ?? [];
  return float32(results, name).slice(0, rows * size);
}

function float32(results: InferenceSession.ReturnType, name: string): Float32Array<ArrayBuffer> {
  const data = results[name]?.data;
  // never shared memory: the runtime cannot create views of it
  if (data instanceof Float32Array) return data as Float32Array<ArrayBuffer>;
  throw new Error(`the graph has no output ${name}`);
}
