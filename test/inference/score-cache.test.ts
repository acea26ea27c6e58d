import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { ScoreCache } from "../../src/inference/batches/score-cache.ts";

test("the least recently used entry leaves when there are too many", () => {
  const cache = new ScoreCache(2);
  cache.set("a", 1);
  cache.set("b", 2);
  assert.equal(cache.get("a"), 1);
  cache.set("c", 3);
  assert.deepEqual([cache.get("a"), cache.get("b"), cache.get("c")], [1, undefined, 3]);
  assert.deepEqual([cache.size, cache.hits], [2, 3]);
});

test("setting an existing entry makes it the newest and adds no entry", () => {
  const cache = new ScoreCache(2);
  for (const key of ["a", "b", "a", "c"]) cache.set(key, 0);
  assert.deepEqual([cache.get("a"), cache.get("b")], [0, undefined]);
});

test("a large cache holds its maximum number of entries and finds all of them", () => {
  const capacity = 200_001;
  const cache = new ScoreCache(capacity);
  const keyOf = (at: number) => createHash("sha256").update(`${at}`).digest("base64url");
  const count = 240_000;
  for (let at = 0; at < count; at++) cache.set(keyOf(at), at);
  assert.ok(cache.size <= capacity && cache.size > 0.99 * capacity, `${cache.size}`);
  for (let at = count - 1_000; at < count; at++) assert.equal(cache.get(keyOf(at)), at);
});

test("a cache of no entries keeps nothing", () => {
  const cache = new ScoreCache(0);
  cache.set("a", 1);
  assert.deepEqual([cache.get("a"), cache.size, cache.hits], [undefined, 0, 0]);
});
