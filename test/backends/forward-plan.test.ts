import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  LONE_REST_TOKENS,
  LONG_QUESTION,
  LONG_STATE,
  type Node,
  planForwards,
  REST_TOKENS,
} from "../../src/backends/onnx/forward-plan.ts";
import type { TokenTree } from "../../src/inference/ports.ts";
import { seededRandom } from "../support/seeded-random.ts";

const key = (tokens: Int32Array) => tokens.join();
const nothingKnown = () => false;
const length = (nodes: readonly Node[]) => nodes.reduce((sum, { tokens }) => sum + tokens.length, 0);
let nextToken = 1000;
const tokens = (count: number) => Int32Array.from({ length: count }, () => nextToken++);

function tree(state: number, question: number, candidates: readonly number[], questions = 1): TokenTree {
  return {
    state: tokens(state),
    questions: Array.from({ length: questions }, () => ({
      tokens: tokens(question),
      candidates: candidates.map(tokens),
    })),
  };
}

describe("the plan of forwards", () => {
  it("takes a small request in one forward", () => {
    const { forwards } = planForwards([tree(10, 9, [13, 13])], key, nothingKnown);
    assert.equal(forwards.length, 1);
    assert.deepEqual(forwards[0]?.pastPrefix, []);
  });

  it("takes several small requests in one forward", () => {
    const { forwards } = planForwards([tree(10, 9, [13, 13]), tree(12, 5, [8, 9, 10])], key, nothingKnown);
    assert.equal(forwards.length, 1);
    assert.equal(forwards[0]?.newRest.length, 2 + 2 + 5);
  });

  it("takes more of them together where it may, but not below a long state", () => {
    const small = Array.from({ length: 8 }, () => tree(10, 9, [26]));
    const counts = (forest: readonly TokenTree[], loneRest?: number) =>
      planForwards(forest, key, nothingKnown, loneRest).forwards.map(({ newRest }) => length(newRest));
    assert.deepEqual(counts(small), [90, 90, 90, 90]);
    assert.deepEqual(counts(small, LONE_REST_TOKENS), [225, 135]);
    const long = tree(LONG_STATE, 9, Array(10).fill(20));
    assert.deepEqual(counts([long], LONE_REST_TOKENS), [109, 100]);
  });

  it("gives each long state forwards of its own, as the prefix", () => {
    const { forwards } = planForwards(
      [tree(LONG_STATE, 9, [13, 13]), tree(LONG_STATE, 5, [8, 9])],
      key,
      nothingKnown,
    );
    assert.deepEqual(
      forwards.map(({ newPrefix, newRest }) => [newPrefix.length, newRest.length]),
      [
        [1, 3],
        [1, 3],
      ],
    );
  });

  it("encodes a state that two requests share once", () => {
    const first = tree(10, 9, [13, 13]);
    const second = { ...tree(1, 9, [5, 5]), state: first.state.slice() };
    const { states, forwards } = planForwards([first, second], key, nothingKnown);
    assert.equal(states.size, 1);
    assert.equal(forwards[0]?.newRest.filter(({ level }) => level === 0).length, 1);
  });

  it("does not encode a known state", () => {
    const { forwards } = planForwards([tree(500, 9, [13, 13])], key, () => true);
    assert.deepEqual(forwards[0]?.newPrefix, []);
    assert.equal(forwards[0]?.pastPrefix.length, 1);
  });

  it("encodes a long question alone and lets it stand in the prefix of its candidates", () => {
    const { forwards } = planForwards([tree(10, LONG_QUESTION + 1, [13, 13])], key, nothingKnown);
    assert.equal(forwards.length, 2);
    assert.deepEqual(
      forwards[0]?.newRest.map(({ level }) => level),
      [0, 1],
    );
    assert.deepEqual(
      forwards[1]?.pastPrefix.map(({ level }) => level),
      [0, 1],
    );
  });

  it("keeps its rules for random forests", () => {
    const random = seededRandom(7);
    for (let round = 0; round < 300; round++) {
      const forest = Array.from({ length: 1 + random.below(6) }, () =>
        tree(
          2 + random.below(random.next() < 0.3 ? 600 : 60),
          1 + random.below(random.next() < 0.2 ? 300 : 40),
          Array.from(
            { length: 2 + random.below(12) },
            () => 2 + random.below(random.next() < 0.1 ? 400 : 30),
          ),
          1 + random.below(3),
        ),
      );
      checkPlan(forest);
    }
  });
});

function checkPlan(forest: readonly TokenTree[]): void {
  const { forwards, pairs } = planForwards(forest, key, nothingKnown);
  const encoded = new Set<Node>();
  for (const { pastPrefix, newPrefix, pastRest, newRest } of forwards) {
    const prefix = [...pastPrefix, ...newPrefix];
    const rest = [...pastRest, ...newRest];
    for (const node of [...pastPrefix, ...pastRest])
      assert.ok(encoded.has(node), "used before it is encoded");
    for (const node of [...newPrefix, ...newRest]) assert.ok(!encoded.has(node), "encoded twice");
    for (const node of rest) {
      for (const above of node.above)
        assert.ok(prefix.includes(above) || rest.includes(above), "a node above is missing");
    }
    assert.ok(newPrefix.length === 0 || (newPrefix.length === 1 && pastPrefix.length === 0), "new or not");
    for (const node of prefix) {
      assert.ok(node.tokens.length >= LONG_STATE || prefix.some(({ level }) => level === 1), "a short state");
      for (const other of [...newPrefix, ...newRest]) {
        assert.ok(other === node || other.above.includes(node), "a prefix that is not everybody's");
      }
    }
    const leaves = rest.filter((node) => !rest.some(({ above }) => above.includes(node)));
    if (leaves.length > 1) assert.ok(length(rest) <= REST_TOKENS, "a rest of many nodes that is too long");
    for (const node of [...newPrefix, ...newRest]) encoded.add(node);
  }
  assert.deepEqual(
    pairs.map((pair) => pair.tokens),
    forest.flatMap(({ questions }) => questions.flatMap(({ candidates }) => candidates)),
  );
  for (const pair of pairs) assert.ok(encoded.has(pair));
}
