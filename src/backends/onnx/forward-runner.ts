import { InferenceSession } from "onnxruntime-node";
import { TOKEN_TREE_IO as IO } from "../../onnx/token-tree-io.ts";
import { type ForwardTask, type Node, scoredNodes } from "./forward.ts";
import { cutTokens, type KeyValues } from "./key-values.ts";
import { sessionOptions } from "./session-options.ts";
import type { TreeModel } from "./tree-model.ts";

export interface ForwardResult {
  /** [scored nodes] in the order of `scoredNodes` */
  readonly scores: Float32Array;
  /** Of the wanted nodes, in their order. */
  readonly keyValues: readonly KeyValues[];
}

/** Keys and values of the past nodes of forwards. */
export type Known = ReadonlyMap<Node, KeyValues>;

/** A graph over token trees, loaded: runs one forward after the other. */
export class ForwardRunner {
  readonly #session: InferenceSession;
  readonly #model: TreeModel;

  private constructor(session: InferenceSession, model: TreeModel) {
    this.#session = session;
    this.#model = model;
  }

  /**
   * @param graph   bytes of the ONNX file, or its path
   * @param threads of a run
   */
  static async load(graph: Uint8Array | string, model: TreeModel, threads: number): Promise<ForwardRunner> {
    const options = sessionOptions(threads);
    const session =
      typeof graph === "string"
        ? await InferenceSession.create(graph, options)
        : await InferenceSession.create(graph, options);
    return new ForwardRunner(session, model);
  }

  async run(task: ForwardTask, known: Known): Promise<ForwardResult> {
    const { forward, wanted } = task;
    const { feeds, begins } = this.#model.inputs(task, (node) => {
      const keyValues = known.get(node);
      if (!keyValues) throw new Error("a node is used before it is encoded");
      return keyValues;
    });
    const names = [IO.scores, ...(wanted.length > 0 ? this.#keyValueNames() : [])];
    const results = await this.#session.run(feeds, names);
    try {
      return {
        scores: float32(results, IO.scores).slice(0, scoredNodes(forward).length),
        keyValues: wanted.map((node) => this.#cut(results, begins.get(node) ?? 0, node.tokens.length)),
      };
    } finally {
      for (const value of Object.values(results)) value.dispose();
    }
  }

  /** A node's keys and values out of a forward's results. */
  #cut(results: InferenceSession.ReturnType, begin: number, tokens: number): KeyValues {
    const { heads, size, valueSize, layers } = this.#model.keyValues;
    const end = begin + tokens;
    const each = (name: (layer: number) => string, outer: number, inner: number) =>
      Array.from({ length: layers }, (_, layer) =>
        cutTokens(float32(results, name(layer)), { outer, inner, begin, end }),
      );
    return { tokens, keys: each(IO.keys, heads * size, 1), values: each(IO.values, heads, valueSize) };
  }

  #keyValueNames(): string[] {
    return Array.from({ length: this.#model.keyValues.layers }, (_, layer) => [
      IO.keys(layer),
      IO.values(layer),
    ]).flat();
  }
}

function float32(results: InferenceSession.ReturnType, name: string): Float32Array {
  const data = results[name]?.data;
  if (data instanceof Float32Array) return data;
  throw new Error(`the graph gave no ${name}`);
}
