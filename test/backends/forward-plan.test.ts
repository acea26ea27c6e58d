import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { planForwards } from "../../src/backends/onnx/forwards/forward-plan.ts";
import { roundsOf } from "../../src/backends/onnx/forwards/forward-rounds.ts";
import {
  isLongQuestion,
  isLongState,
  LONG_QUESTION,
  LONG_STATE,
  type Node,
  newTokens,
  REST_TOKENS,
  tokenCount,
} from "../../src/backends/tensors/forward.ts";
import type { TokenTree } from "../../src/inference/ports.ts";
import { seededRandom } from "../support/seeded-random.ts";

const key = ({ state }: TokenTree) => state.join();
const nothingKnown = () => false;
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
    const { forwards } = planForwards([tree(10, 9, [13, 13])], key, nothingKnown, 1);
    assert.equal(forwards.length, 1);
    assert.deepEqual(forwards[0]?.pastPrefix, []);
  });

  it("takes several small requests in one forward", () => {
    const { forwards } = planForwards([tree(10, 9, [13, 13]), tree(12, 5, [8, 9, 10])], key, nothingKnown, 1);
    assert.equal(forwards.length, 1);
    assert.equal(forwards[0]?.newRest.length, 2 + 2 + 5);
  });

  it("takes as many of them together as stand in one block, whole ones", () => {
    const small = Array.from({ length: 8 }, () => tree(10, 9, [26]));
    const { forwards } = planForwards(small, key, nothingKnown, 1);
    assert.deepEqual(forwards.map(newTokens), [90, 90, 90, 90]);
  });

  it("shares small requests out to threads, unless they are too small", () => {
    const sizes = (requests: number, threads: number) => {
      const small = Array.from({ length: requests }, () => tree(10, 9, [13, 13]));
      return planForwards(small, key, nothingKnown, threads).forwards.map(newTokens);
    };
    assert.deepEqual(sizes(2, 1), [90]);
    assert.deepEqual(sizes(2, 2), [45, 45]);
    assert.deepEqual(sizes(4, 2), [90, 90]);
    assert.deepEqual(sizes(1, 8), [45]);
  });

  it("with several threads, encodes a state with its questions first and then gives each thread as many candidates", () => {
    const { forwards } = planForwards([tree(300, 12, Array(12).fill(12))], key, nothingKnown, 2);
    assert.deepEqual(forwards.map(newTokens), [312, 72, 72]);
    assert.deepEqual(
      roundsOf(forwards).map((round) => round.length),
      [1, 2],
    );
  });

  it("does not encode a state first for a few candidates, for questions that need not be cut, or for many requests", () => {
    const counts = (forest: readonly TokenTree[], isKnown = false) =>
      planForwards(forest, key, () => isKnown, 2).forwards.map(newTokens);
    assert.deepEqual(counts([tree(300, 12, [12, 12])]), [336]);
    assert.deepEqual(counts([tree(300, 12, [30, 30], 2)], true), [72, 72]);
    assert.deepEqual(counts([tree(300, 12, [110])]), [422]);
    const many = Array.from({ length: 4 }, () => tree(300, 12, [50, 50]));
    assert.deepEqual(counts(many), [412, 412, 412, 412]);
  });

  it("gives each long state forwards of its own, as the prefix", () => {
    const { forwards } = planForwards(
      [tree(LONG_STATE, 9, [13, 13]), tree(LONG_STATE, 5, [8, 9])],
      key,
      nothingKnown,
      1,
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
    const { states, forwards } = planForwards([first, second], key, nothingKnown, 1);
    assert.equal(states.size, 1);
    assert.equal(forwards[0]?.newRest.filter(({ level }) => level === 0).length, 1);
  });

  it("does not encode a known state", () => {
    const { forwards } = planForwards([tree(500, 9, [13, 13])], key, () => true, 1);
    assert.deepEqual(forwards[0]?.newPrefix, []);
    assert.equal(forwards[0]?.pastPrefix.length, 1);
  });

  it("encodes a long question alone and lets it stand in the prefix of its candidates", () => {
    const { forwards } = planForwards([tree(10, LONG_QUESTION + 1, [13, 13])], key, nothingKnown, 1);
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
  const isKnown = (key: string) => key.length % 3 === 0;
  const { states, forwards, pairs } = planForwards(forest, key, isKnown, threads);
  const encoded = new Set<Node>([...states].flatMap(([name, state]) => (isKnown(name) ? [state] : [])));
  const known = new Set(encoded);
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
    assert.ok(newPrefix.length + newRest.length > 0, "nothing to do");
    for (const node of rest) {
      const isOfOthers = rest.some(({ above }) => above.includes(node));
      assert.ok(
        !isOfOthers || !(isLongState(node) || (isLongQuestion(node) && node !== rest.at(-1))),
        "a long node in the rest",
      );
    }
    const leaves = rest.filter((node) => !rest.some(({ above }) => above.includes(node)));
    if (leaves.length > 1)
      assert.ok(tokenCount(rest) <= REST_TOKENS, "a rest of many nodes that is too long");
    for (const node of [...newPrefix, ...newRest]) encoded.add(node);
  }
  assert.deepEqual(
    pairs.map((pair) => pair.tokens),
    forest.flatMap(({ questions }) => questions.flatMap(({ candidates }) => candidates)),
  );
  for (const pair of pairs) assert.ok(encoded.has(pair));
  checkRounds(roundsOf(forwards), known);
}

function checkRounds(rounds: ReturnType<typeof roundsOf>, known: ReadonlySet<Node>): void {
  const encoded = new Set(known);
  for (const round of rounds) {
    for (const { pastPrefix, pastRest } of round) {
      for (const node of [...pastPrefix, ...pastRest]) assert.ok(encoded.has(node), "needed too early");
    }
    for (const { newPrefix, newRest } of round) {
      for (const node of [...newPrefix, ...newRest]) encoded.add(node);
    }
  }
}
