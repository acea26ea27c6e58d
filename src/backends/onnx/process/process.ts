/**
 * The inference process: holds the model, scores what its parent sends. A process and not a thread, because a run
 * cannot be interrupted: a thread that is ended in one takes the whole service with it.
 */

import type { FromProcess, RunnerCounters, ToProcess } from "../../process/messages.ts";
import type { Runner } from "../forwards/model-runner.ts";
import { ONNX_DEVICES } from "../runtime/session-options.ts";
import { loadRunner, multiplicationOf } from "./load-runner.ts";
import { dieWithParent } from "./parent-watch.ts";

/** Found out before the model is known. */
const multiplication = multiplicationOf(process.argv[2] === "fp32" ? "fp32" : "int8");
multiplication.catch(() => {}); // `load` tells
let runner: Runner | undefined;

/** What cannot be sent is dropped: then the parent has died, and this process is about to end. */
const send = (message: FromProcess) => process.send?.(message, undefined, undefined, () => {});
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Chosen: asking the system takes some 20 microseconds. */
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
    globalThis.gc?.(); // the weights, where the graph had to be written: 65 MB
    send({ type: "loaded" });
  } catch (error) {
    send({ type: "refused", message: messageOf(error) });
  }
}

async function score({ id, forest }: Extract<ToProcess, { type: "score" }>): Promise<void> {
  try {
    if (!runner) throw new Error("the model is not loaded");
    send({ type: "scored", id, ...(await runner.score(forest)), ...counters() });
  } catch (error) {
    send({ type: "failed", id, message: messageOf(error) });
  }
}

/** One forest after the other: the next one finds the states that this one keeps. */
let last: Promise<void> = Promise.resolve();
function scoreNext(message: Extract<ToProcess, { type: "score" }>): Promise<void> {
  last = last.then(() => score(message));
  return last;
}

process.on("message", (message: ToProcess) => {
  if (message.type === "ping") send({ type: "pong", ...counters() });
  else void (message.type === "load" ? load(message) : scoreNext(message));
});
// the parent has died: nobody is left to answer
process.on("disconnect", () => process.kill(process.pid, "SIGKILL")); // an exit ends threads in a run, which aborts
dieWithParent();
// a signal to the process group means the service, which first answers what it has accepted
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
