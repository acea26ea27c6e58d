import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { environmentOf } from "../../src/backends/process/environment.ts";
import { mappedArray, mappedCopy, reuseLater, unmap } from "../../src/backends/tensors/mapped-array.ts";
import { packageRoot } from "../support/package-root.ts";

const LARGE = 2 ** 19;

test("new arrays are zeroed, and copies are equal", () => {
  for (const length of [0, 1, 1000, LARGE]) {
    const array = mappedArray(length);
    assert.equal(array.length, length);
    assert.ok(array.every((value) => value === 0));
    array.fill(1.5, 1);
    const copy = mappedCopy(array);
    assert.deepEqual(copy, array);
    assert.notEqual(copy.buffer, array.buffer);
  }
});

test("a large array reaches another thread and comes back", async () => {
  const echo = `const { parentPort } = require("node:worker_threads");
    parentPort.once("message", (array) => { array[1] += 1; parentPort.postMessage(array, [array.buffer]); });`;
  const worker = new Worker(echo, { eval: true });
  const array = mappedArray(LARGE).fill(2);
  worker.postMessage(array, [array.buffer]);
  assert.equal(array.length, 0, "transferred");
  const back = await new Promise<Float32Array>((resolve, reject) =>
    worker.once("message", resolve).once("error", reject),
  );
  assert.deepEqual([...back.subarray(0, 3)], [2, 3, 2]);
  assert.equal(back.length, LARGE);
});

/**
 * Makes 64 arrays of 1 MiB, drops every second one, and collects garbage.
 *
 * @param make expression for a new array, in a module that imports `mappedArray`
 * @returns    MiB that the process has returned to the system
 */
function returnedMib(make: string): number {
  const url = pathToFileURL(`${packageRoot}/src/backends/tensors/mapped-array.ts`).href;
  const program = `
    import { setTimeout } from "node:timers/promises";
    import { mappedArray } from ${JSON.stringify(url)};
    let all = Array.from({ length: 64 }, () => (${make}).fill(1));
    const before = process.memoryUsage.rss();
    all = all.filter((_, at) => at % 2 === 1);
    gc();
    await setTimeout(200);
    console.log(before - process.memoryUsage.rss(), all.length);`;
  const output = execFileSync(
    process.execPath,
    ["--expose-gc", "--import", "tsx", "--input-type=module", "--eval", program],
    { cwd: packageRoot, env: environmentOf(process.env, () => false), encoding: "utf8" },
  );
  return Number(output.split(" ")[0]) / 2 ** 20;
}

test("the pages of a collected array return to the system, though its neighbours live", {
  skip: process.platform !== "linux",
}, () => {
  assert.ok(returnedMib("mappedArray(2 ** 18)") > 24);
});

test("control: the allocator of the inference process keeps them", {
  skip: process.platform !== "linux",
}, () => {
  assert.ok(returnedMib("new Float32Array(2 ** 18)") < 8);
});

test("a large array gets the pages of one that is done with, which is empty then", () => {
  const used = mappedArray(LARGE).fill(3);
  reuseLater(used);
  assert.equal(used.length, 0);
  const next = mappedArray(LARGE - 1);
  assert.deepEqual([next.length, next[0], next.at(-1)], [LARGE - 1, 3, 3]);
  const other = mappedArray(LARGE);
  assert.equal(other[0], 0, "only one gets them");
});

test("spare pages are limited, and small arrays are left alone", () => {
  const small = mappedArray(10).fill(1);
  reuseLater(small);
  unmap(small);
  assert.equal(small[9], 1);
  const arrays = Array.from({ length: 40 }, () => mappedArray(LARGE).fill(4));
  arrays.forEach(reuseLater);
  const reused = arrays.map(() => mappedArray(LARGE)).filter(([first]) => first === 4);
  assert.equal(reused.length, 10); // of 2 MiB
});

test("an array can be returned to the system at once", () => {
  const array = mappedArray(LARGE).fill(5);
  unmap(array);
  assert.equal(array.length, 0);
});
