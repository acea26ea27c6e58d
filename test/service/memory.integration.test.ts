import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { residentOnce } from "../../bench/http/resident-memory.ts";
import { cpuCount } from "../../src/backends/onnx/runtime/cpu-count.ts";
import { inferenceProcessOf } from "../support/processes.ts";
import { Service } from "./service.ts";

const MIB = 2 ** 20;
/** The bound of docs/reliability.md, for two processors. */
const READY_MIB = 220;
/** A thread has a session of its own. */
const THREAD_MIB = 20;

test("a service that is ready takes little memory, and starts the inference process with small heaps", {
  skip: process.platform !== "linux" && "only Linux says which pages processes share",
}, async () => {
  const first = await Service.start(); // leaves the graph in the cache
  assert.equal(await first.stop(), 0);
  const service = await Service.start();
  try {
    await sleep(500);
    const pid = service.process.pid ?? 0;
    const bound = READY_MIB + THREAD_MIB * Math.max(0, cpuCount() - 2);
    const mib = (residentOnce(pid) ?? Number.NaN) / MIB;
    assert.ok(mib <= bound, `${mib.toFixed(0)} MiB, at most ${bound}`);
    const args = readFileSync(`/proc/${inferenceProcessOf(pid)}/cmdline`, "utf8").split("\0");
    for (const option of ["--max-semi-space-size=1", "--single-threaded-gc", "--expose-gc"])
      assert.ok(args.includes(option), `${option} is not among ${args.join(" ")}`);
  } finally {
    assert.equal(await service.stop(), 0);
  }
});
