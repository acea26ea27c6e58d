import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import type { Backend } from "../../src/inference/backend.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { GEMMA3_PACKAGES, gemma3Package, pairTree } from "../support/gemma3-golden.ts";
import { goldenDecisions, tokenTree } from "../support/golden.ts";
import { nativeWith, testedDevice } from "../support/native.ts";
import { embeddedModel, packageRoot } from "../support/package-root.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { leavesOfTrees, type TokenTree } from "../support/trees.ts";

const modelPackage = await openModelPackage(embeddedModel);
/**
 * Tolerance of float32. At the embedded model's largest scores, 65, a float32 step is 8e-6, so there the tolerance is
 * relative to the score.
 */
const TOLERANCE = 1e-5;
/** Tolerances of bfloat16 and float16, which have 8 and 11 bits. Measured on a CPU: 0.11 and 0.014. */
const COARSE = { bf16: 0.25, fp16: 0.04 };

/** Candidates of a question whose tree needs several forwards (limit in native/decision_native/runner.py). */
const CUT_CANDIDATES = testedDevice === "cpu" ? 13 : 400;

const trees = goldenDecisions.map(tokenTree);
const golden = goldenDecisions.flatMap(({ scores }) => scores);

function assertNear(scores: ArrayLike<number>, wanted: ArrayLike<number>, tolerance = TOLERANCE): void {
  assert.equal(scores.length, wanted.length);
  for (let at = 0; at < wanted.length; at++) {
    const [score = Number.NaN, want = Number.NaN] = [scores[at], wanted[at]];
    const error = Math.abs(score - want) / (tolerance === TOLERANCE ? Math.max(1, Math.abs(want)) : 1);
    assert.ok(error <= tolerance, `pair ${at}: ${score}, expected ${want}`);
  }
}

/** Each pair of a forest as a separate tree. */
function pairsOf(forest: readonly TokenTree[]): TokenTree[] {
  return forest.flatMap(({ state, questions }) =>
    questions.flatMap(({ tokens, candidates }) =>
      candidates.map((candidate) => ({ state, questions: [{ tokens, candidates: [candidate] }] })),
    ),
  );
}

async function oneByOne(backend: Backend, forest: readonly TokenTree[]): Promise<number[]> {
  const scores: number[] = [];
  for (const tree of forest) scores.push(...(await backend.score(leavesOfTrees([tree]))).scores);
  return scores;
}

describe("the embedded model in float32", () => {
  const backend = nativeWith(modelPackage, { stateCacheBytes: 64 * 2 ** 20, hasVectors: true });
  const strict = nativeWith(modelPackage, { strict: true });
  before(() => Promise.all([backend.start(), strict.start()]));
  after(() => Promise.all([backend.close(), strict.close()]));

  it("gives the golden scores alone, with kept states, and all in one batch", async () => {
    assertNear(await oneByOne(backend, trees), golden);
    assertNear(await oneByOne(backend, trees), golden);
    assertNear((await backend.score(leavesOfTrees(trees))).scores, golden);
    assert.ok((backend.counters?.().stateHits ?? 0) > 0);
  });

  it("gives them one pair at a time, as the reference execution has it", async () => {
    assertNear(await oneByOne(strict, pairsOf(trees)), golden);
  });

  it("gives the bits of the makers' own code then", { skip: testedDevice !== "cpu" }, async () => {
    const input = pairsOf(trees).map(({ state, questions: [question] }) => ({
      state: [...state],
      question: [...(question?.tokens ?? [])],
      candidate: [...(question?.candidates[0] ?? [])],
    }));
    const program = path.join(packageRoot, "test/support/makers_scores.py");
    const said = execFileSync(process.env.DECISION_PYTHON || "python3", [program, embeddedModel], {
      input: JSON.stringify(input),
      encoding: "utf8",
    });
    const makers: number[] = JSON.parse(said);
    const ours = await oneByOne(strict, pairsOf(trees));
    assert.deepEqual(ours, makers);
  });

  it("gives a score alone that it has in company, but for rounding", async () => {
    const random = seededRandom(7);
    const ids = (length: number) => Int32Array.from({ length }, () => random.below(50_000));
    for (let round = 0; round < 3; round++) {
      const forest = Array.from({ length: 2 + random.below(4) }, () => ({
        state: ids(1 + random.below(200)),
        questions: Array.from({ length: 1 + random.below(2) }, () => ({
          tokens: ids(1 + random.below(140)),
          candidates: Array.from({ length: 1 + random.below(4) }, () => ids(1 + random.below(60))),
        })),
      }));
      const { scores, vectors } = await backend.score(leavesOfTrees(forest));
      assertNear(scores, await oneByOne(backend, pairsOf(forest)));
      assert.equal(vectors?.length, scores.length * 384);
    }
  });

  it("gives the same bits again, and one pair at a time the same in whatever order", async () => {
    const pairs = pairsOf(trees).slice(0, 12);
    const there = await oneByOne(strict, pairs);
    const back = await oneByOne(strict, [...pairs].reverse());
    assert.deepEqual(back.reverse(), there);
    await backend.score(leavesOfTrees(trees)); // from here on, the states are cached
    assert.deepEqual(
      (await backend.score(leavesOfTrees(trees))).scores,
      (await backend.score(leavesOfTrees(trees))).scores,
    );
  });

  it("cuts a large tree into several forwards, whose later ones use what earlier ones have encoded", async () => {
    const ids = (length: number, seed: number) =>
      Int32Array.from({ length }, (_, i) => 1000 + ((i * 7 + seed * 13) % 20_000));
    const tree = {
      state: ids(700, 1),
      questions: [2, 3].map((seed) => ({
        tokens: ids(90, seed),
        candidates: Array.from({ length: CUT_CANDIDATES }, (_, i) => ids(30, 100 * seed + i)),
      })),
    };
    const { scores, forwards } = await backend.score(leavesOfTrees([tree]));
    assert.ok(forwards > 1);
    const some = [0, 7, 11, 12, CUT_CANDIDATES - 1, CUT_CANDIDATES, 2 * CUT_CANDIDATES - 1];
    const pairs = pairsOf([tree]);
    const alone = await oneByOne(
      strict,
      some.flatMap((at) => pairs[at] ?? []),
    );
    assertNear(
      some.map((at) => scores[at] ?? Number.NaN),
      alone,
    );
  });

  it("counts and forgets states by their bytes", async () => {
    const size = 6 * 2 * 384 * 4 * 100; // of a state of 100 tokens: layers, keys and values, numbers, bytes
    const small = nativeWith(modelPackage, { stateCacheBytes: 2 * size });
    await small.start();
    try {
      const treeOf = (seed: number): TokenTree => ({
        state: Int32Array.from({ length: 100 }, (_, i) => 1000 * seed + i),
        questions: [{ tokens: Int32Array.of(5), candidates: [Int32Array.of(6)] }],
      });
      const [first, second, third] = [treeOf(1), treeOf(2), treeOf(3)];
      const counts = async (tree: TokenTree) => {
        const { cachedTokens } = await small.score(leavesOfTrees([tree]));
        const { stateHits, stateMisses } = small.counters?.() ?? {};
        return [cachedTokens, stateHits, stateMisses];
      };
      assert.deepEqual(await counts(first), [0, 0, 1]);
      assert.deepEqual(await counts(first), [100, 1, 1]);
      assert.deepEqual(await counts(second), [0, 1, 2]);
      assert.deepEqual(await counts(third), [0, 1, 3]);
      assert.deepEqual(await counts(first), [0, 1, 4], "it was the least recently used");
    } finally {
      await small.close();
    }
  });
});

describe("a causal model in float32", () => {
  for (const name of GEMMA3_PACKAGES) {
    it(`${name}: the reference library's scores, wherever a pair is cut into nodes`, async () => {
      const { modelPackage, decisions } = await gemma3Package(name);
      const random = seededRandom(1);
      const golden = decisions.flatMap(({ scores }) => scores);
      const forest = decisions.flatMap(({ token_ids: pairs }) =>
        pairs.map((ids) => {
          const stateEnd = random.below(ids.length);
          return pairTree(ids, stateEnd, stateEnd + random.below(ids.length - stateEnd));
        }),
      );
      const backend = nativeWith(modelPackage, { stateCacheBytes: 2 ** 20 });
      const strict = nativeWith(modelPackage, { strict: true });
      await Promise.all([backend.start(), strict.start()]);
      try {
        const near = 2.5 * TOLERANCE; // attention uses another kernel than the reference library
        const scores = [(await backend.score(leavesOfTrees(forest))).scores, await oneByOne(backend, forest)];
        for (const each of scores) assertAbsolute(each, golden, near);
        assertAbsolute(await oneByOne(strict, forest), golden, TOLERANCE);
      } finally {
        await Promise.all([backend.close(), strict.close()]);
      }
    });
  }
});

function assertAbsolute(scores: ArrayLike<number>, wanted: readonly number[], tolerance: number): void {
  for (const [at, want] of wanted.entries()) {
    const error = Math.abs((scores[at] ?? Number.NaN) - want);
    assert.ok(error <= tolerance, `pair ${at} is off by ${error}`);
  }
}

describe("16-bit numbers", () => {
  for (const precision of ["bf16", "fp16"] as const) {
    it(`${precision}: near the golden scores, and said so`, async () => {
      const backend = nativeWith(modelPackage, { precision });
      await backend.start();
      try {
        assertNear((await backend.score(leavesOfTrees(trees))).scores, golden, COARSE[precision]);
        assert.equal(backend.facts?.precision, precision);
      } finally {
        await backend.close();
      }
    });
  }

  it("bf16: a causal model gives numbers near the golden ones", async () => {
    const { modelPackage, decisions } = await gemma3Package("small-270m");
    const backend = nativeWith(modelPackage, { precision: "bf16" });
    await backend.start();
    try {
      const forest = decisions.flatMap(({ token_ids: pairs }) => pairs.map((ids) => pairTree(ids, 2, 4)));
      assertAbsolute(
        (await backend.score(leavesOfTrees(forest))).scores,
        decisions.flatMap(({ scores }) => scores),
        0.5,
      );
    } finally {
      await backend.close();
    }
  });
});
