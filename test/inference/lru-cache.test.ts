import assert from "node:assert/strict";
import { test } from "node:test";
import { LruCache } from "../../src/inference/lru-cache.ts";

const cacheOf = (maxSize: number) => new LruCache<string>(maxSize, ({ length }) => length);
const held = (cache: LruCache<string>) => ["a", "b", "c", "d"].filter((key) => cache.has(key));

test("the least recently used leave until all fit", () => {
  const cache = cacheOf(6);
  cache.set("a", "11");
  cache.set("b", "22");
  cache.set("c", "33");
  assert.equal(cache.get("a"), "11");
  cache.set("d", "4444");
  assert.deepEqual(held(cache), ["a", "d"]);
});

test("a value that is set again takes the place of the old one", () => {
  const cache = cacheOf(6);
  cache.set("a", "1111");
  cache.set("a", "11");
  cache.set("b", "2222");
  assert.deepEqual(held(cache), ["a", "b"]);
  assert.equal(cache.get("a"), "11");
});

test("what is too large for all of it drives nothing out", () => {
  const cache = cacheOf(6);
  cache.set("a", "11");
  cache.set("b", "2222222");
  assert.deepEqual(held(cache), ["a"]);
});

test("a value that has become too large is gone", () => {
  const cache = cacheOf(6);
  cache.set("a", "11");
  cache.set("a", "1111111");
  cache.set("b", "222222");
  assert.deepEqual(held(cache), ["b"]);
});
