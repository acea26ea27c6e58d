import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { leavesOf, listNodes, pathLength, pathOf, stateOf } from "../../src/inference/nodes.ts";
import { leavesOfTrees, type TokenTree } from "../support/trees.ts";

const leavesBelow = (each: TokenTree) => leavesOfTrees([each]);

const tree = (state: number[], question: number[], ...candidates: number[][]): TokenTree => ({
  state: Int32Array.from(state),
  questions: [
    { tokens: Int32Array.from(question), candidates: candidates.map((ids) => Int32Array.from(ids)) },
  ],
});

test("a node's key is the SHA-256 of its parent's key and its tokens", () => {
  const [leaf] = leavesBelow(tree([1, 2], [3], [4, 5, 6]));
  const digest = (above: string, ...tokens: number[]) =>
    createHash("sha256").update(above).update(Int32Array.from(tokens)).digest("base64url");
  assert.equal(leaf?.key, digest(digest(digest("", 1, 2), 3), 4, 5, 6));
  assert.ok(leaf !== undefined && pathLength(leaf) === 6);
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
  const keys = trees.flatMap((each) => leavesBelow(each).map(({ key }) => key));
  assert.equal(new Set(keys).size, trees.length);
});

test("equal candidates of one question have one key, of two questions two", () => {
  const [first, second] = leavesBelow(tree([1], [2], [7], [7]));
  const [other] = leavesBelow(tree([1], [3], [7]));
  assert.ok(first && second && other);
  assert.equal(first.key, second.key);
  assert.notEqual(first.key, other.key);
  assert.equal(stateOf(first).key, stateOf(other).key);
});

test("nodes by index become the same leaves again, and what they share is one node", () => {
  const leaves = leavesOfTrees([
    tree([1, 2], [3], [4, 5, 6], [7], [7]),
    tree([1], [], [8]),
    tree([1, 2], [], [9, 9]),
  ]);
  const list = listNodes(leaves);
  assert.deepEqual([...list.parents], [-1, 0, 1, 1, 1, -1, 5, 6, 0, 8]);
  const again = leavesOf(list);
  assert.deepEqual(again, leaves);
  assert.equal(new Set(again.flatMap(pathOf)).size, list.keys.length);
});
