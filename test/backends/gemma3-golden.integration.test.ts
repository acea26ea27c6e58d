import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import type { Runner } from "../../src/backends/onnx/forwards/model-runner.ts";
import { loadRunner } from "../../src/backends/onnx/process/load-runner.ts";
import {
  GEMMA3_PACKAGES,
  GEMMA3_TOLERANCE,
  type GoldenDecision,
  gemma3Package,
  pairTree,
} from "../support/gemma3-golden.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { leavesOfTrees, type TokenTree } from "../support/trees.ts";

describe("a causal model gives the scores of the reference library", () => {
  let cache: string;
  before(async () => {
    cache = await mkdtemp(path.join(tmpdir(), "gemma3-golden-"));
  });
  after(() => rm(cache, { recursive: true }));

  for (const name of GEMMA3_PACKAGES) {
    it(`${name}: wherever a pair is cut into nodes, and with a decision's pairs together`, async () => {
      const { modelPackage, decisions } = await gemma3Package(name);
      const folders = { cache, temporary: cache };
      const options = { threads: 2, stateCacheBytes: 1 << 20 };
      const runner = await loadRunner(modelPackage, "fp32", options, folders);
      const random = seededRandom(1);
      for (const decision of decisions) {
        await check(runner, decision, [sharedTree(decision)], "shared");
        const cuts = decision.token_ids.map((ids) => {
          const stateEnd = random.below(ids.length);
          return pairTree(ids, stateEnd, stateEnd + random.below(ids.length - stateEnd));
        });
        await check(runner, decision, cuts, "cut anywhere");
        const whole = decision.token_ids.map((ids) => pairTree(ids, 0, 0));
        await check(runner, decision, whole, "candidates only");
      }
    });
  }
});

async function check(
  runner: Runner,
  { scores: wanted }: GoldenDecision,
  forest: readonly TokenTree[],
  what: string,
): Promise<void> {
  const { scores } = await runner.score(leavesOfTrees(forest));
  assert.equal(scores.length, wanted.length);
  for (const [i, score] of wanted.entries()) {
    const error = Math.abs((scores[i] ?? Number.NaN) - score);
    assert.ok(error <= GEMMA3_TOLERANCE, `${what}: pair ${i} is off by ${error}`);
  }
}

/** A tree whose shared prefix is the state and the question. */
function sharedTree({ token_ids: pairs }: GoldenDecision): TokenTree {
  const [first = []] = pairs;
  const shortest = Math.min(...pairs.map((ids) => ids.length - 1));
  let shared = 0;
  while (shared < shortest && pairs.every((ids) => ids[shared] === first[shared])) shared += 1;
  const state = Math.ceil(shared / 2);
  return {
    state: Int32Array.from(first.slice(0, state)),
    questions: [
      {
        tokens: Int32Array.from(first.slice(state, shared)),
        candidates: pairs.map((ids) => Int32Array.from(ids.slice(shared))),
      },
    ],
  };
}
