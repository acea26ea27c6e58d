/** Worker thread that runs forwards in parallel to the main thread: see worker-pool.ts. */
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../../errors.ts";
import { arraysOf, byteLength } from "../../tensors/key-values.ts";
import { treeModel } from "../../tensors/tree-model.ts";
import { watchParent } from "../runtime/parent-watch.ts";
import { ForwardRunner } from "./forward-runner.ts";
import { Garbage } from "./garbage.ts";
import { type Round, type RoundReply, runTasks, type WorkerSettings } from "./worker-pool.ts";

if (!parentPort) throw new Error("must be started as a worker thread");
watchParent();
const port = parentPort;
const settings: WorkerSettings = workerData;
const garbage = new Garbage();
const runner = await ForwardRunner.load(settings.graph, treeModel(settings.shape, 1), 1, {
  hasOwnHeap: settings.isForSmall || undefined, // otherwise as is usual on this system
});
if (typeof settings.graph !== "string") {
  Object.assign(settings, { graph: "" }); // frees 55 MB if the graph was passed as bytes
  globalThis.gc?.();
}

let last = Promise.resolve();
port.on("message", (round: Round) => {
  last = last.then(() => compute(round));
});
port.postMessage({ results: new Map() } satisfies RoundReply);

async function compute(round: Round): Promise<void> {
  await answer(round);
  for (const keyValues of round.encoded.values()) {
    garbage.note(byteLength(keyValues)); // they are copies for this thread
  }
}

async function answer(round: Round): Promise<void> {
  try {
    const results = await runTasks(runner, round);
    // transferred, not copied
    const transfer = [...results.values()].flatMap(({ keyValues }) =>
      keyValues.flatMap(arraysOf).map(({ buffer }) => buffer),
    );
    port.postMessage({ results } satisfies RoundReply, transfer);
  } catch (error) {
    port.postMessage({
      message: messageOf(error),
    } satisfies RoundReply);
  }
}
