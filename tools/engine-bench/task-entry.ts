/** The process at the other end of `TaskProcess`. */

import { leavesOf } from "../../src/inference/nodes.ts";
import { tokenTreeShape } from "../../src/models/architectures/bert-token-tree/graph.ts";
import { packageTensors } from "../../src/models/architectures/written-graph.ts";
import { buildPairGraph } from "./pair-graph.ts";
import { PairRunner } from "./pair-runner.ts";
import type { TaskCall, TaskName, TaskReply, Tasks } from "./tasks.ts";

type TaskTable = {
  readonly [Name in TaskName]: (input: Tasks[Name]["input"]) => Promise<Tasks[Name]["output"]>;
};

let pairs: PairRunner | undefined;

const TASKS: TaskTable = {
  async loadPairs({ modelPackage, threads }) {
    const shape = tokenTreeShape(modelPackage.manifest.architecture);
    const weights = await packageTensors(modelPackage, "model.safetensors");
    const graph = buildPairGraph(shape, weights);
    pairs = await PairRunner.load(graph, shape, threads);
    return undefined;
  },
  async scorePairs({ nodes, batch }) {
    if (!pairs) throw new Error("the baseline is not loaded");
    return pairs.score(leavesOf(nodes), batch);
  },
};

process.on("message", async ({ id, task, input }: TaskCall) => {
  const reply = await answer(task, input).then(
    (output): TaskReply => ({ id, output }),
    (error: unknown): TaskReply => ({ id, error: error instanceof Error ? error.message : String(error) }),
  );
  process.send?.(reply);
});
// the parent has died
process.on("disconnect", () => process.exit(0));
// a signal to the process group is for the bench, which ends this process itself
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

async function answer(task: TaskName, input: unknown): Promise<unknown> {
  // `TaskProcess.run` pairs each task with its input
  const run = TASKS[task] as (input: unknown) => Promise<unknown>;
  return run(input);
}
