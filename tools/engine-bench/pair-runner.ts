import { InferenceSession, Tensor } from "../../src/backends/onnx/runtime/runtime.ts";
import { sessionOptions } from "../../src/backends/onnx/runtime/session-options.ts";
import type { BatchScores } from "../../src/inference/backend.ts";
import { type Node, pathLength, pathOf } from "../../src/inference/nodes.ts";
import type { TokenTreeShape } from "../../src/onnx/token-tree-io.ts";
import { PADDING_LEVEL, PAIR_IO } from "./pair-graph.ts";

/** The baseline: scores batches pair by pair with the graph of pair-graph.ts. */
export class PairRunner {
  readonly #session: InferenceSession;
  readonly #shape: TokenTreeShape;

  private constructor(session: InferenceSession, shape: TokenTreeShape) {
    this.#session = session;
    this.#shape = shape;
  }

  /**
   * Uses the engine's session settings, which are as fast as the runtime's defaults (measured).
   * @param graph bytes of the ONNX file
   */
  static async load(graph: Uint8Array, shape: TokenTreeShape, threads: number): Promise<PairRunner> {
    return new PairRunner(await InferenceSession.create(graph, sessionOptions(threads)), shape);
  }

  /**
   * @param batch pairs per run
   * @returns     [pairs] scores in the order of the leaves, and the number of runs
   */
  async score(leaves: readonly Node[], batch: number): Promise<BatchScores> {
    // pairs of similar length together, to reduce padding
    const pairs = [...leaves.entries()].sort(([, a], [, b]) => pathLength(a) - pathLength(b));
    const scores = new Float32Array(pairs.length);
    let forwards = 0;
    for (let from = 0; from < pairs.length; from += batch) {
      const together = pairs.slice(from, from + batch);
      const results = await this.#session.run(
        feeds(
          together.map(([, leaf]) => leaf),
          this.#shape.positions,
        ),
      );
      const data = results[PAIR_IO.scores]?.data;
      if (!(data instanceof Float32Array)) throw new Error("the graph gave no scores");
      for (const [i, [at]] of together.entries()) scores[at] = data[i] ?? Number.NaN;
      for (const value of Object.values(results)) value.dispose();
      forwards += 1;
    }
    return { scores, forwards };
  }
}

/** The graph's inputs for one padded batch. */
function feeds(batch: readonly Node[], positions: number): Record<string, Tensor> {
  const length = Math.max(...batch.map(pathLength));
  const cells = batch.length * length;
  const ids = new Int32Array(cells);
  const places = new Int32Array(cells);
  const levels = new Int32Array(cells).fill(PADDING_LEVEL);
  const readAt = new BigInt64Array(batch.length);
  for (const [row, leaf] of batch.entries()) {
    let at = row * length;
    for (const { level, tokens } of pathOf(leaf)) {
      if (level === 2) readAt[row] = BigInt(at);
      ids.set(tokens, at);
      levels.fill(level, at, at + tokens.length);
      for (let i = 0; i < tokens.length; i++) places[at + i] = i % positions;
      at += tokens.length;
    }
  }
  const grid = [batch.length, length];
  return {
    [PAIR_IO.ids]: new Tensor("int32", ids, grid),
    [PAIR_IO.positions]: new Tensor("int32", places, grid),
    [PAIR_IO.levels]: new Tensor("int32", levels, grid),
    [PAIR_IO.readAt]: new Tensor("int64", readAt, [batch.length]),
  };
}
