import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { planForwards, roundsOf } from "../../src/backends/onnx/forwards/planner.ts";
import {
  isLongQuestion,
  isLongState,
  LONG_QUESTION,
  LONG_STATE,
  REST_TOKENS,
  tokenCount,
} from "../../src/backends/tensors/forward.ts";
import { type Node, nodesAbove, stateOf } from "../../src/inference/nodes.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { leavesOfTrees, type TokenTree } from "../support/trees.ts";

const plan = (forest: readonly TokenTree[], threads: number) =>
  planForwards(leavesOfTrees(forest), [], threads);
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
    const forwards = plan([tree(10, 9, [13, 13])], 1);
    assert.equal(forwards.length, 1);
    assert.deepEqual(forwards[0]?.pastPrefix, []);
  });

  it("takes several small requests in one forward", () => {
    const forwards = plan([tree(10, 9, [13, 13]), tree(12, 5, [8, 9, 10])], 1);
    assert.equal(forwards.length, 1);
    assert.equal(forwards[0]?.newRest.length, 2 + 2 + 5);
  });

  it("gives each long state forwards of its own, as the prefix", () => {
    const forwards = plan([tree(LONG_STATE, 9, [13, 13]), tree(LONG_STATE, 5, [8, 9])], 1);
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
    const forwards = plan([first, second], 1);
    assert.equal(forwards.length, 1);
    assert.equal(forwards[0]?.newRest.filter(({ level }) => level === 0).length, 1);
  });

  it("does not encode a cached state", () => {
    const leaves = leavesOfTrees([tree(500, 9, [13, 13])]);
    const forwards = planForwards(leaves, leaves.map(stateOf), 1);
    assert.deepEqual(forwards[0]?.newPrefix, []);
    assert.equal(forwards[0]?.pastPrefix.length, 1);
  });

  it("encodes a long question alone and lets it stand in the prefix of its candidates", () => {
    const forwards = plan([tree(10, LONG_QUESTION + 1, [13, 13])], 1);
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

  for (const threads of [1, 2, 8])
    it(`keeps its rules for random forests and ${threads} threads`, () => {
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
        const [first] = forest;
        const again = first && tree(1, 9, [13, 13]);
        checkPlan(again && first ? [...forest, { ...again, state: first.state.slice() }] : forest, threads);
      }
    });
});

function checkPlan(forest: readonly TokenTree[], threads: number): void {
  const leaves = leavesOfTrees(forest);
  const cached = new Set(leaves.map(stateOf).filter(({ tokens }) => tokens.length % 3 === 0));
  const forwards = planForwards(leaves, cached, threads);
  const encoded = new Set<Node>(cached);
  for (const { pastPrefix, newPrefix, pastRest, newRest } of forwards) {
    const prefix = [...pastPrefix, ...newPrefix];
    const rest = [...pastRest, ...newRest];
    for (const node of [...pastPrefix, ...pastRest])
      assert.ok(encoded.has(node), "used before it is encoded");
    for (const node of [...newPrefix, ...newRest]) assert.ok(!encoded.has(node), "encoded twice");
    for (const node of rest) {
      for (const above of nodesAbove(node))
        assert.ok(prefix.includes(above) || rest.includes(above), "a node above is missing");
    }
    assert.ok(newPrefix.length === 0 || (newPrefix.length === 1 && pastPrefix.length === 0), "new or not");
    for (const node of prefix) {
      assert.ok(node.tokens.length >= LONG_STATE || prefix.some(({ level }) => level === 1), "a short state");
      for (const other of [...newPrefix, ...newRest]) {
        assert.ok(other === node || nodesAbove(other).includes(node), "a prefix that is not everybody's");
      }
    }
    assert.ok(newPrefix.length + newRest.length > 0, "nothing to do");
    for (const node of rest) {
      const isOfOthers = rest.some((other) => nodesAbove(other).includes(node));
      assert.ok(
        !isOfOthers || !(isLongState(node) || (isLongQuestion(node) && node !== rest.at(-1))),
        "a long node in the rest",
      );
    }
    const lowest = rest.filter((node) => !rest.some((other) => nodesAbove(other).includes(node)));
    if (lowest.length > 1)
      assert.ok(tokenCount(rest) <= REST_TOKENS, "a rest of many nodes that is too long");
    for (const node of [...newPrefix, ...newRest]) encoded.add(node);
  }
  for (const leaf of leaves) assert.ok(encoded.has(leaf));
  checkRounds(roundsOf(forwards), cached);
}

function checkRounds(rounds: ReturnType<typeof roundsOf>, cached: ReadonlySet<Node>): void {
  const encoded = new Set(cached);
  for (const round of rounds) {
    for (const { pastPrefix, pastRest } of round) {
      for (const node of [...pastPrefix, ...pastRest]) assert.ok(encoded.has(node), "needed too early");
    }
    for (const { newPrefix, newRest } of round) {
      for (const node of [...newPrefix, ...newRest]) encoded.add(node);
    }
  }
}
