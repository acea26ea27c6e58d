import {
  ModelRunner,
  type Runner,
  type RunnerOptions,
} from "../../src/backends/onnx/forwards/model-runner.ts";
import { piecesPerThread } from "../../src/backends/onnx/runtime/work-split.ts";
import type { Gemma3Shape, Gemma3Weights } from "../../src/onnx/causal/gemma3-io.ts";
import { buildGemma3TokenTree } from "../../src/onnx/causal/gemma3-token-tree.ts";
import type { Multiplication } from "../../src/onnx/layers/linear.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { leavesOfTrees, type TokenTree } from "../support/trees.ts";
import type { Score } from "./same-bits.ts";

/**
 * The heads of the real model, for the same kernels; everything else is small. The window is shorter than most texts.
 */
export const REAL_HEADS: Gemma3Shape = {
  type: "gemma3",
  vocab: 997,
  hidden: 96,
  heads: 4,
  kvHeads: 1,
  headSize: 256,
  inner: 160,
  layers: ["sliding", "full", "sliding"],
  window: 48,
  normEpsilon: 1e-6,
  queryScale: 256 ** -0.5,
  ropeTheta: { full: 1_000_000, sliding: 10_000 },
  positions: 2048,
  headInner: 40,
};

/** Other layer patterns, several key heads, and heads so small that sums over keys are split elsewhere. */
export const OTHER_SHAPES: Readonly<Record<string, Gemma3Shape>> = {
  "two heads of keys, the last layer slides": {
    ...REAL_HEADS,
    kvHeads: 2,
    headSize: 64,
    layers: ["full", "sliding"],
    window: 100,
  },
  "all slide, small heads": { ...REAL_HEADS, headSize: 24, layers: ["sliding", "sliding"], window: 7 },
  "none slides, a head of keys for each of queries": {
    ...REAL_HEADS,
    kvHeads: 4,
    headSize: 32,
    layers: ["full", "full"],
  },
};

/** Random weights that differ clearly from one another; nothing is read from a file. */
export function randomWeights(seed: number): Gemma3Weights {
  const random = seededRandom(seed);
  const numbers = (shape: readonly number[], spread: number) => {
    const size = shape.reduce((product, length) => product * length, 1);
    return Float32Array.from({ length: size }, () => (2 * random.next() - 1) * spread);
  };
  return {
    float32: (name, shape) => numbers(shape, name.includes("norm") ? 0.6 : 1.7 / Math.sqrt(shape[1] ?? 1)),
    stored(_name, shape) {
      const { buffer } = numbers(shape, 0.3);
      return { type: "float32", byteLength: buffer.byteLength, parts: [new Uint8Array(buffer)] };
    },
  };
}

export function randomGraph(shape: Gemma3Shape, form: Multiplication): Uint8Array {
  return buildGemma3TokenTree(shape, randomWeights(3), form);
}

/** A runner as a function. Token ids are mapped into its vocabulary. */
export async function gemma3Scorer(
  graph: Uint8Array,
  shape: Gemma3Shape,
  options: RunnerOptions,
): Promise<Score> {
  const pieces = await piecesPerThread(options.threads);
  return scoreWith(await ModelRunner.load(graph, shape, { ...options, piecesPerThread: pieces }), shape);
}

export function scoreWith(runner: Runner, shape: Gemma3Shape): Score {
  return inVocabularyOf(shape, async (forest) => (await runner.score(leavesOfTrees(forest))).scores);
}

/** Maps any token ids into the vocabulary before scoring. */
export function inVocabularyOf(shape: Gemma3Shape, score: Score): Score {
  const known = (tokens: Int32Array) => tokens.map((id) => id % shape.vocab);
  const inVocabulary = ({ state, questions }: TokenTree): TokenTree => ({
    state: known(state),
    questions: questions.map(({ tokens, candidates }) => ({
      tokens: known(tokens),
      candidates: candidates.map(known),
    })),
  });
  return (forest) => score(forest.map(inVocabulary));
}
