import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { ModelRunner } from "../../src/backends/onnx/model-runner.ts";
import type { TokenTree } from "../../src/inference/ports.ts";
import { buildGraph, tokenTreeShape } from "../../src/models/graph.ts";
import { openModelPackage } from "../../src/models/package.ts";
import { goldenDecisions, tokenTree } from "../support/golden.ts";
import { embeddedModel } from "../support/package-root.ts";
import { seededRandom } from "../support/seeded-random.ts";

/** Of the package's own golden file: float32, PyTorch against ONNX Runtime. */
const TOLERANCE = 1e-3;

describe("the embedded model", () => {
  let graph: Uint8Array;
  let load: (stateCacheBytes: number) => Promise<ModelRunner>;

  before(async () => {
    const modelPackage = await openModelPackage(embeddedModel);
    graph = await buildGraph(modelPackage, "fp32");
    const shape = tokenTreeShape(modelPackage.manifest.architecture);
    load = (stateCacheBytes) => ModelRunner.load(graph, shape, { threads: 2, stateCacheBytes });
  });

  it("gives the golden scores", async () => {
    const runner = await load(0);
    for (const decision of goldenDecisions) {
      const { scores } = await runner.score([tokenTree(decision)]);
      assert.equal(scores.length, decision.scores.length);
      for (const [i, wanted] of decision.scores.entries()) {
        const error = Math.abs((scores[i] ?? Number.NaN) - wanted);
        assert.ok(error <= TOLERANCE, `${decision.question}, candidate ${i}: off by ${error}`);
      }
    }
  });

  it("encodes a state once for all forwards, and not again while it is kept", async () => {
    const runner = await load(64 << 20);
    const tree = randomTree(seededRandom(3), {
      state: 900,
      question: 20,
      questions: 3,
      candidates: 30,
      candidate: 15,
    });
    const cold = await runner.score([tree]);
    const warm = await runner.score([tree]);
    assert.ok(cold.forwards > 1);
    assert.equal(warm.forwards, cold.forwards);
    assert.deepEqual(bits(warm.scores), bits(cold.scores));
  });

  it("gives a pair the same bits alone and in any company, from a cold and a warm cache", async () => {
    const random = seededRandom(20261121);
    const runners = [await load(0), await load(256 << 20)];
    const trees = Array.from({ length: 10 }, () => randomTree(random, randomSizes(random)));
    const alone: number[][] = [];
    for (const tree of trees) {
      const scores: number[] = [];
      for (const single of singlePairs(tree))
        scores.push(...bits((await runners[0]?.score([single]))?.scores));
      alone.push(scores);
    }
    for (let round = 0; round < 6; round++) {
      const chosen = trees.map((_, i) => i).filter(() => random.next() < 0.4);
      const company = chosen.map((i) => trees[i]).filter((tree) => tree !== undefined);
      const { scores } = (await runners[round % 2]?.score(company)) ?? { scores: new Float32Array() };
      assert.deepEqual(
        bits(scores),
        chosen.flatMap((i) => alone[i] ?? []),
        `round ${round}: trees ${chosen}`,
      );
    }
  });
});

/** The bits of float32 numbers: `===` would hold 0 and -0 for one, and no NaN for itself. */
function bits(scores: Float32Array = new Float32Array()): number[] {
  return [...new Int32Array(scores.buffer, scores.byteOffset, scores.length)];
}

interface Sizes {
  state: number;
  question: number;
  questions: number;
  candidates: number;
  candidate: number;
}
type Random = ReturnType<typeof seededRandom>;

function randomSizes(random: Random): Sizes {
  // around the bounds of forward-plan.ts (128 and 256 tokens), and far from them
  const from = (...sizes: number[]) => sizes[random.below(sizes.length)] ?? 2;
  return {
    state: from(2, 3, 10, 16, 40, 120, 254, 256, 257, 300, 513, 800),
    question: from(1, 2, 9, 30, 127, 128, 129, 260),
    questions: from(1, 1, 2, 3),
    candidates: from(2, 2, 3, 5, 17),
    candidate: from(2, 5, 14, 15, 60, 130, 258),
  };
}

function randomTree(random: Random, sizes: Sizes): TokenTree {
  const tokens = (length: number) => Int32Array.from({ length }, () => 1000 + random.below(28000));
  return {
    state: tokens(sizes.state),
    questions: Array.from({ length: sizes.questions }, () => ({
      tokens: tokens(sizes.question),
      candidates: Array.from({ length: sizes.candidates }, () =>
        tokens(1 + random.below(sizes.candidate) + 1),
      ),
    })),
  };
}

function singlePairs({ state, questions }: TokenTree): TokenTree[] {
  return questions.flatMap(({ tokens, candidates }) =>
    candidates.map((candidate) => ({ state, questions: [{ tokens, candidates: [candidate] }] })),
  );
}
