import type { TokenTree } from "../../src/inference/ports.ts";
import type { TokenTreeShape } from "../../src/onnx/token-tree-io.ts";

/** Computation of a request. A multiplication with its addition counts as one multiply-add. */
export interface Arithmetic {
  /** Tokens to encode, each node once. */
  readonly computedTokens: number;
  /** Tokens as `usage.input_tokens` counts them: each pair at its full length. */
  readonly jointTokens: number;
  /** Multiply-adds of the linear layers, which run in the engine's precision. */
  readonly linear: number;
  /** Multiply-adds of attention, which runs in fp32. */
  readonly attention: number;
}

const NO_ARITHMETIC: Arithmetic = { computedTokens: 0, jointTokens: 0, linear: 0, attention: 0 };

/**
 * The useful arithmetic of a tree: the minimum for any implementation that shares a state and its questions.
 *
 * Counted: products of linear layers, and of attention over the keys that a token sees. In the last layer only keys and
 * values of tokens that scored tokens see, and everything else of scored tokens only. Not counted: masked products,
 * padding, softmax, normalization, activation, embedding. So padding, masks and copies reduce the share of the roof.
 */
export function arithmeticOf(tree: TokenTree, shape: TokenTreeShape): Arithmetic {
  const { hidden, inner, layers } = shape;
  let tokens = tree.state.length;
  let jointTokens = 0;
  let pairs = 0;
  let seenKeys = tree.state.length ** 2; // per token and layer
  let seenByScored = 0; // per scored token
  for (const { tokens: question, candidates } of tree.questions) {
    const above = tree.state.length + question.length;
    tokens += question.length;
    seenKeys += question.length * above;
    for (const { length } of candidates) {
      tokens += length;
      pairs += 1;
      seenKeys += length * (above + length);
      seenByScored += above + length;
      jointTokens += above + length;
    }
  }
  const full = tokens * (4 * hidden ** 2 + 2 * hidden * inner);
  const last = tokens * 2 * hidden ** 2 + pairs * (2 * hidden ** 2 + 2 * hidden * inner);
  const head = pairs * (hidden ** 2 + hidden);
  return {
    computedTokens: tokens,
    jointTokens,
    linear: (layers - 1) * full + last + head,
    attention: 2 * hidden * ((layers - 1) * seenKeys + seenByScored),
  };
}

export function sumOf(parts: readonly Arithmetic[]): Arithmetic {
  return parts.reduce(
    (sum, part) => ({
      computedTokens: sum.computedTokens + part.computedTokens,
      jointTokens: sum.jointTokens + part.jointTokens,
      linear: sum.linear + part.linear,
      attention: sum.attention + part.attention,
    }),
    NO_ARITHMETIC,
  );
}
