import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { jointLength, listPairs } from "../../src/inference/batches/pairs.ts";
import type { TokenTree } from "../../src/inference/ports.ts";
import { planOf } from "../support/plans.ts";

const pairsOf = (each: TokenTree) => listPairs(planOf(each));

const tree = (state: number[], question: number[], ...candidates: number[][]): TokenTree => ({
  state: Int32Array.from(state),
  questions: [
    { tokens: Int32Array.from(question), candidates: candidates.map((ids) => Int32Array.from(ids)) },
  ],
});

test("a pair's key is the SHA-256 of its question's key and its tokens, and so on up to its state", () => {
  const [pair] = pairsOf(tree([1, 2], [3], [4, 5, 6]));
  const digest = (above: string, ...tokens: number[]) =>
    createHash("sha256").update(above).update(Int32Array.from(tokens)).digest("base64url");
  assert.equal(pair?.candidate.key, digest(digest(digest("", 1, 2), 3), 4, 5, 6));
  assert.ok(pair !== undefined && jointLength(pair) === 6);
});

test("paths with the same tokens in other places have different keys", () => {
  const trees = [
    tree([1, 2], [3], [4]),
    tree([1], [2, 3], [4]),
    tree([1, 2, 3], [], [4]),
    tree([], [1, 2, 3], [4]),
    tree([1, 2], [3], [4, 0]),
    tree([1, 2], [3], []),
  ];
  const keys = trees.flatMap((each) => pairsOf(each).map((pair) => pair.candidate.key));
  assert.equal(new Set(keys).size, trees.length);
});

test("equal candidates of one question have one key, of two questions two", () => {
  const [first, second] = pairsOf(tree([1], [2], [7], [7]));
  assert.equal(first?.candidate.key, second?.candidate.key);
  const [other] = pairsOf(tree([1], [3], [7]));
  assert.notEqual(first?.candidate.key, other?.candidate.key);
  assert.equal(first?.state.key, other?.state.key);
});
