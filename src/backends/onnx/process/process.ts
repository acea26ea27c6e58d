import { messageOf } from "../../../errors.ts";
/**
 * The inference process: holds the model and scores the batches that its parent sends. It is a process and not a thread,
 * because a run cannot be interrupted: ending a thread during a run aborts the whole service.
 */

import { leavesOf } from "../../../inference/nodes.ts";
import { preloadGraphs } from "../../../models/architectures/architectures.ts";
import type { FromProcess, RunnerCounters, ToProcess } from "../../process/messages.ts";
import type { Runner } from "../forwards/model-runner.ts";
import { dieWithParent } from "../runtime/parent-watch.ts";
import { ONNX_DEVICES } from "../runtime/session-options.ts";
import { loadRunner, multiplicationOf } from "./load-runner.ts";

// while the model is not yet known, to save time
void preloadGraphs();
const multiplication = multiplicationOf(process.argv[2] === "fp32" ? "fp32" : "int8");
multiplication.catch(() => {}); // `load` reports the error
let runner: Runner | undefined;

/** Send errors are ignored: they mean that the parent has died, and this process is about to end. */
const send = (message: FromProcess) => process.send?.(message, undefined, undefined, () => {});

/** Time between reads of the memory size. Chosen: a read takes about 20 microseconds. */
const MEMORY_EACH_MS = 1_000;
let residentBytes = 0;
let askedAt = Number.NEGATIVE_INFINITY;

function counters(): RunnerCounters {
  const now = performance.now();
  if (now - askedAt >= MEMORY_EACH_MS) {
    askedAt = now;
    residentBytes = process.memoryUsage.rss();
  }
  const { hits = 0, misses = 0 } = runner?.stateCounts ?? {};
  return { stateHits: hits, stateMisses: misses, residentBytes };
}

async function load({
  modelPackage,
  threads,
  stateCacheBytes,
  hasVectors,
  device,
}: Extract<ToProcess, { type: "load" }>): Promise<void> {
  try {
    runner = await loadRunner(modelPackage, await multiplication, {
      threads,
      stateCacheBytes,
      hasVectors,
      place: { device: ONNX_DEVICES.find((name) => name === device) },
    });
    if (runner.watchesParent !== true) dieWithParent();
    globalThis.gc?.(); // frees 65 MB of weights if the graph had to be written
    send({ type: "loaded" });
  } catch (error) {
    send({ type: "refused", message: messageOf(error) });
  }
}

async function score({ id, nodes, isAlone }: Extract<ToProcess, { type: "score" }>): Promise<void> {
  try {
    if (!runner) throw new Error("the model is not loaded");
    send({ type: "scored", id, ...(await runner.score(leavesOf(nodes), isAlone)), ...counters() });
  } catch (error) {
    send({ type: "failed", id, message: messageOf(error) });
  }
}

process.on("message", (message: ToProcess) => {
  if (message.type === "ping") send({ type: "pong", ...counters() });
  else void (message.type === "load" ? load(message) : score(message));
});
// the parent has died
process.on("disconnect", () => process.kill(process.pid, "SIGKILL")); // exit() would abort if threads are in a run
// a signal to the process group is for the service, which finishes accepted requests first
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
