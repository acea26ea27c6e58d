import type { BatchScores } from "../../inference/backend.ts";
import type { Node } from "../../inference/nodes.ts";

/** Scores and vectors of candidates, forward by forward. */
export class PairScores {
  readonly #scores = new Map<Node, number>();
  readonly #vectors = new Map<Node, Float32Array>();

  /**
   * @param nodes   the scored ones
   * @param scores  [nodes] or more
   * @param vectors [nodes, size]
   */
  record(nodes: readonly Node[], scores: Float32Array, vectors?: Float32Array): void {
    const size = (vectors?.length ?? 0) / nodes.length;
    for (const [at, node] of nodes.entries()) {
      this.#scores.set(node, scores[at] ?? Number.NaN);
      if (vectors) this.#vectors.set(node, vectors.subarray(at * size, (at + 1) * size));
    }
  }

  /** Those of leaves, in their order. What is missing is NaN. */
  inOrder(leaves: readonly Node[]): Pick<BatchScores, "scores" | "vectors"> {
    const scores = Float32Array.from(leaves, (leaf) => this.#scores.get(leaf) ?? Number.NaN);
    const [first] = this.#vectors.values();
    if (first === undefined) return { scores };
    const vectors = new Float32Array(leaves.length * first.length).fill(Number.NaN);
    for (const [at, leaf] of leaves.entries()) vectors.set(this.#vectors.get(leaf) ?? [], at * first.length);
    return { scores, vectors };
  }
}
