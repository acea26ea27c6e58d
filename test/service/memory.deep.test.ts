import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { residentOnce } from "../../bench/http/resident-memory.ts";
import { multiplicationOf } from "../../src/backends/onnx/process/load-runner.ts";
import { cpuCount } from "../../src/backends/onnx/runtime/cpu-count.ts";
import { PACKING } from "../../src/backends/onnx/runtime/packed-weights.ts";
import { homeFolder } from "../../src/home.ts";
import { openGraph } from "../../src/models/architectures/architectures.ts";
import { graphFolders } from "../../src/models/graph/graph-cache.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { embeddedModel } from "../support/package-root.ts";
import { inferenceProcessOf } from "../support/processes.ts";
import { Service } from "./service.ts";

const MIB = 2 ** 20;
/** The bound of docs/reliability.md, for two processors. */
const READY_MIB = 250;
/** A thread has a session of its own. */
const THREAD_MIB = 20;
/**
 * What a session takes more that has no file of the graph to map. Measured: 57, and 7 as room, because whole services differ by
 * 20 MiB from run to run. A second copy in a thread takes another 55.
 */
const OWN_GRAPH_MIB = 65;
/** Longest wait until memory of the start is given back. */
const SETTLE_MS = 20_000;
const ofLinux = {
  skip: process.platform !== "linux" && "only Linux says which pages processes share",
};

/** @returns MiB, once they are within the bound, or what they are after some time */
async function settledMemory(pid: number, bound: number): Promise<number> {
  const end = performance.now() + SETTLE_MS;
  while (true) {
    const mib = (residentOnce(pid) ?? Number.NaN) / MIB;
    if (mib <= bound || performance.now() > end) return mib;
    await sleep(100);
  }
}

test(
  "a service that is ready takes little memory, and starts the inference process with small heaps",
  ofLinux,
  async () => {
    await leaveGraph();
    const service = await Service.start();
    try {
      const pid = service.process.pid ?? 0;
      const bound = READY_MIB + THREAD_MIB * Math.max(0, cpuCount() - 2);
      const mib = await settledMemory(pid, bound);
      assert.ok(mib <= bound, `${mib.toFixed(0)} MiB, at most ${bound}`);
      const args = readFileSync(`/proc/${inferenceProcessOf(pid)}/cmdline`, "utf8").split("\0");
      for (const option of ["--max-semi-space-size=1", "--single-threaded-gc", "--expose-gc"])
        assert.ok(args.includes(option), `${option} is not among ${args.join(" ")}`);
    } finally {
      assert.equal(await service.stop(), 0);
    }
  },
);

test("a graph that cannot be kept on disk is in memory once for each session", ofLinux, async () => {
  const service = await Service.start([], { XDG_CACHE_HOME: "/dev/null" });
  try {
    const sessions = 2 + cpuCount(); // all threads, the main thread, and a helper for each processor
    const bound = READY_MIB + THREAD_MIB * Math.max(1, cpuCount() - 1) + OWN_GRAPH_MIB * sessions;
    const mib = await settledMemory(service.process.pid ?? 0, bound);
    assert.ok(mib <= bound, `${mib.toFixed(0)} MiB, at most ${bound}`);
  } finally {
    assert.equal(await service.stop(), 0);
  }
});

/** Writes the graph to the cache, unless it is there. */
async function leaveGraph(): Promise<void> {
  const form = await multiplicationOf("int8");
  const folders = graphFolders(process.env, homeFolder(), tmpdir());
  await openGraph(await openModelPackage(embeddedModel), { form, folders, packing: PACKING });
}
