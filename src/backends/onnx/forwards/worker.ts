/** Worker thread that runs forwards in parallel to the main thread: see worker-pool.ts. */
import { workerData } from "node:worker_threads";
import { arraysOf, byteLength } from "../../tensors/key-values.ts";
import { treeModel } from "../../tensors/tree-model.ts";
import { BufferCollector } from "./buffer-collector.ts";
import { ForwardRunner } from "./forward-runner.ts";
import { type Round, type RoundResults, runTasks, type WorkerSettings } from "./worker-pool.ts";
import { answerTasks } from "./worker-thread.ts";

const settings: WorkerSettings = workerData;
const collector = new BufferCollector();
const runner = await ForwardRunner.load(settings.graph, treeModel(settings.shape, 1), 1, {
  hasOwnHeap: settings.isForSmall || undefined, // otherwise as is usual on this system
});
if (typeof settings.graph !== "string") {
  Object.assign(settings, { graph: "" }); // frees 55 MB if the graph was passed as bytes
  globalThis.gc?.();
}

answerTasks<Round, RoundResults>({
  compute: (round) => runTasks(runner, round),
  buffersOf: (results) =>
    [...results.values()].flatMap(({ keyValues }) => keyValues.flatMap(arraysOf).map(({ buffer }) => buffer)),
  afterwards: ({ encoded }) => {
    for (const keyValues of encoded.values()) collector.allocated(byteLength(keyValues)); // copies for this thread
  },
});
