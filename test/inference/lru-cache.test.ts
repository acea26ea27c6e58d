import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { LruCache } from "../../src/inference/lru-cache.ts";
import { Random } from "./random.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");
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

test("random uses leave what a list in order of use would leave", () => {
  const random = new Random(7);
  const cache = cacheOf(40);
  let order: { key: string; value: string }[] = []; // oldest use first
  for (let step = 0; step < 20_000; step++) {
    const key = `key ${random.between(0, 29)}`;
    const known = order.find((entry) => entry.key === key);
    order = order.filter((entry) => entry.key !== key);
    if (random.isChance(0.5)) {
      assert.equal(cache.get(key), known?.value);
      if (known) order.push(known);
      continue;
    }
    const value = "x".repeat(random.between(1, 12));
    cache.set(key, value);
    order.push({ key, value });
    while (order.reduce((sum, entry) => sum + entry.value.length, 0) > 40) order.shift();
    assert.equal(cache.count, order.length);
  }
  for (const { key } of order) assert.ok(cache.has(key));
});

test("hits leave nothing behind in a cache that never fills", () => {
  const cache = cacheOf(1_000_000);
  const keys = Array.from({ length: 100 }, (_, at) => `key ${at}`);
  for (const key of keys) cache.set(key, "value");
  const hit = (rounds: number) => {
    for (let round = 0; round < rounds; round++) for (const key of keys) cache.get(key);
  };
  hit(100);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  hit(5_000);
  collectGarbage();
  assert.ok(process.memoryUsage().heapUsed - before < 2_000_000);
});
