import { InferenceSession } from "onnxruntime-node";
import type { ForestScores, TokenTree } from "../../inference/ports.ts";
import { TOKEN_TREE_IO as IO } from "../../onnx/token-tree-io.ts";
import { type Forward, type Node, planForwards } from "./forward-plan.ts";
import { SHORTEST_KEPT_STATE } from "./kept-states.ts";
import { cutTokens, type KeyValues } from "./key-values.ts";
import { sessionOptions } from "./session-options.ts";
import { StateCache } from "./state-cache.ts";
import { type TreeModel, type TreeShape, treeModel } from "./tree-model.ts";

export interface RunnerOptions {
  readonly threads: number;
  readonly stateCacheBytes: number;
  /** See work-split.ts; 1 unless given. */
  readonly piecesPerThread?: number;
}

/** A model in this process. */
export interface Runner {
  score(forest: readonly TokenTree[]): Promise<ForestScores>;
}

/** Scores forests with a token-tree graph: src/onnx/bert-token-tree.ts or gemma3-token-tree.ts. */
export class ModelRunner implements Runner {
  readonly #session: InferenceSession;
  readonly #model: TreeModel;
  readonly #states: StateCache;

  private constructor(session: InferenceSession, model: TreeModel, stateCacheBytes: number) {
    this.#session = session;
    this.#model = model;
    this.#states = new StateCache(stateCacheBytes);
  }

  /** @param graph bytes of the ONNX file, or its path */
  static load(
    graph: Uint8Array | string,
    shape: TreeShape,
    { threads, stateCacheBytes, piecesPerThread }: RunnerOptions,
  ): Promise<ModelRunner> {
    return ModelRunner.loadModel(graph, treeModel(shape, threads, piecesPerThread), stateCacheBytes);
  }

  static async loadModel(
    graph: Uint8Array | string,
    model: TreeModel,
    stateCacheBytes: number,
  ): Promise<ModelRunner> {
    const options = sessionOptions(model.threads);
    const session =
      typeof graph === "string"
        ? await InferenceSession.create(graph, options)
        : await InferenceSession.create(graph, options);
    return new ModelRunner(session, model, stateCacheBytes);
  }

  async score(forest: readonly TokenTree[]): Promise<ForestScores> {
    const isKnown = (key: string) => this.#states.has(key);
    const { states, forwards, pairs } = planForwards(forest, StateCache.key, isKnown, this.#model.loneRest);
    const encoded = this.#recall(states);
    const lastUse = lastUses(forwards);
    const scores = new Map<Node, number>();
    for (const [index, forward] of forwards.entries()) {
      const neededLater = (node: Node) => (lastUse.get(node) ?? -1) > index;
      await this.#forward(forward, encoded, neededLater, scores);
      this.#keep(states, encoded);
      for (const node of encoded.keys()) if (!neededLater(node)) encoded.delete(node);
    }
    return {
      scores: Float32Array.from(pairs, (pair) => scores.get(pair) ?? Number.NaN),
      forwards: forwards.length,
    };
  }

  /** What is known of the states. Held from now on: the cache may drop them while forwards run. */
  #recall(states: ReadonlyMap<string, Node>): Map<Node, KeyValues> {
    const encoded = new Map<Node, KeyValues>();
    for (const [key, state] of states) {
      const keyValues = this.#states.get(key);
      if (keyValues) encoded.set(state, keyValues);
    }
    return encoded;
  }

  #keep(states: ReadonlyMap<string, Node>, encoded: ReadonlyMap<Node, KeyValues>): void {
    for (const [key, state] of states) {
      const keyValues = encoded.get(state);
      if (keyValues && isWorthKeeping(state)) this.#states.set(key, keyValues);
    }
  }

  async #forward(
    forward: Forward,
    encoded: Map<Node, KeyValues>,
    neededLater: (node: Node) => boolean,
    scores: Map<Node, number>,
  ): Promise<void> {
    const { feeds, begins, scored } = this.#model.inputs(forward, (node) => {
      const keyValues = encoded.get(node);
      if (!keyValues) throw new Error("a node is used before it is encoded");
      return keyValues;
    });
    const kept = [...begins].filter(([node]) => neededLater(node) || isWorthKeeping(node));
    const results = await this.#session.run(feeds, [
      IO.scores,
      ...(kept.length > 0 ? this.#keyValueNames() : []),
    ]);
    const values = float32(results, IO.scores);
    for (const [i, node] of scored.entries()) scores.set(node, values[i] ?? Number.NaN);
    for (const [node, begin] of kept) encoded.set(node, this.#cut(results, begin, node.tokens.length));
    disposeAll(results);
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

const isWorthKeeping = (node: Node) => node.level === 0 && node.tokens.length >= SHORTEST_KEPT_STATE;

/** Index of the last forward that reads a node's keys and values. */
function lastUses(forwards: readonly Forward[]): ReadonlyMap<Node, number> {
  const last = new Map<Node, number>();
  for (const [index, { pastPrefix, pastRest }] of forwards.entries()) {
    for (const node of [...pastPrefix, ...pastRest]) last.set(node, index);
  }
  return last;
}

function float32(results: InferenceSession.ReturnType, name: string): Float32Array {
  const data = results[name]?.data;
  if (data instanceof Float32Array) return data;
  throw new Error(`the graph gave no ${name}`);
}

function disposeAll(results: InferenceSession.ReturnType): void {
  for (const value of Object.values(results)) value.dispose();
}
