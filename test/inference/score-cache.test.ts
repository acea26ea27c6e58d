import assert from "node:assert/strict";
import { test } from "node:test";
import { ScoreCache } from "../../src/inference/score-cache.ts";

test("the least recently used entry leaves when there are too many", () => {
  const cache = new ScoreCache(2);
  cache.set("a", 1);
  cache.set("b", 2);
  assert.equal(cache.get("a"), 1);
  cache.set("c", 3);
  assert.deepEqual([cache.get("a"), cache.get("b"), cache.get("c")], [1, undefined, 3]);
  assert.deepEqual([cache.size, cache.hits], [2, 3]);
});

test("setting an entry again makes it the newest and adds none", () => {
  const cache = new ScoreCache(2);
  for (const key of ["a", "b", "a", "c"]) cache.set(key, 0);
  assert.deepEqual([cache.get("a"), cache.get("b")], [0, undefined]);
});

test("a cache of no entries keeps nothing", () => {
  const cache = new ScoreCache(0);
  cache.set("a", 1);
  assert.deepEqual([cache.get("a"), cache.size, cache.hits], [undefined, 0, 0]);
});
