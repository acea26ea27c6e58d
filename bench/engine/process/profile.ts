import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ModelRunner } from "../../../src/backends/onnx/forwards/model-runner.ts";
import { exactMultiplication } from "../../../src/backends/onnx/runtime/exact-kernel.ts";
import { InferenceSession } from "../../../src/backends/onnx/runtime/runtime.ts";
import { buildGraph, tokenTreeShape } from "../../../src/models/graph/graph.ts";
import { type OperatorTime, operatorTimes } from "./operator-time.ts";
import type { Tasks } from "./tasks.ts";

/** Runs a forest in one thread for the given time and reads the runtime's profile. */
export async function profileForest({
  modelPackage,
  precision,
  forest,
  budgetMs,
}: Tasks["profile"]["input"]): Promise<readonly OperatorTime[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "decision-profile-"));
  try {
    const form = precision === "fp32" ? "fp32" : await exactMultiplication();
    const graph = await buildGraph(modelPackage, form);
    const shape = tokenTreeShape(modelPackage.manifest.architecture);
    const session = profiledSession(path.join(folder, "run"));
    const runner = await ModelRunner.load(graph, shape, { threads: 1, stateCacheBytes: 0 });
    const endAt = performance.now() + budgetMs;
    let runs = 0;
    for (; runs < 2 || performance.now() < endAt; runs++) await runner.score(forest);
    session().endProfiling();
    const [file = ""] = await readdir(folder);
    return operatorTimes(JSON.parse(await readFile(path.join(folder, file), "utf8")), runs, shape);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Creates the next session with the profiler on. The engine's runner creates its session itself and has no option for
 * profiling. This process does nothing else, so it may patch the runtime.
 */
function profiledSession(profileFilePrefix: string): () => InferenceSession {
  const create = InferenceSession.create.bind(InferenceSession);
  let created: InferenceSession | undefined;
  InferenceSession.create = async (graph: unknown, options: unknown) => {
    const given = typeof options === "object" ? options : {};
    // the runner passes bytes and options; other overloads are not used
    created = await create(graph as Uint8Array, { ...given, enableProfiling: true, profileFilePrefix });
    return created;
  };
  return () => {
    if (!created) throw new Error("the engine's runner made no session");
    return created;
  };
}
