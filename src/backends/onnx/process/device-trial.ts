/** Tries a device. Runs in a process of its own, because a driver may crash it. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { messageOf } from "../../../errors.ts";
import { type Node, nodeBelow } from "../../../inference/nodes.ts";
import type { Precision } from "../../../models/architectures/architecture.ts";
import type { ModelPackage } from "../../../models/package/package.ts";
import { GraphBuilder } from "../../../onnx/file/graph-builder.ts";
import type { Runner } from "../forwards/model-runner.ts";
import { dieWithParent } from "../runtime/parent-watch.ts";
import { InferenceSession, listSupportedBackends, Tensor } from "../runtime/runtime.ts";
import { type OnnxDevice, sessionOptions } from "../runtime/session-options.ts";
import { loadRunner, multiplicationOf } from "./load-runner.ts";

/** What to try: a device, and a model on it. */
export interface TrialRequest {
  readonly device: OnnxDevice;
  readonly model?: TriedModel;
}

export interface TriedModel {
  readonly modelPackage: ModelPackage;
  readonly precision: Precision;
  readonly hasVectors: boolean;
}

/** The outcome of a trial. */
export interface TrialReply {
  /** Whether the installed package has a provider of this name. */
  readonly isListed?: boolean;
  /** Path of the provider's library, if the package does not contain it and it is not installed there. */
  readonly missingLibrary?: string | undefined;
  /** Error message of the runtime. */
  readonly error?: string | undefined;
  /** A few pairs of the model, computed on the device and by one processor. */
  readonly onDevice?: TrialRun;
  readonly onCpu?: TrialRun;
}

export interface TrialRun {
  readonly scores: readonly number[];
  /** Duration of the fastest run. */
  readonly ms: number;
}

/** Runs of a trial that are timed. Chosen: more than one, because others may take processor time from a run. */
const RUNS = 3;
/** A device that takes so many times the CPU's time is not timed again. Chosen: a driver in software takes hundreds. */
const HOPELESS = 10;
/** Maximum tokens of a trial's state. Chosen: enough work for a device to be worth its transfers. */
const STATE_TOKENS = 192;

async function tryDevice({ device, model }: TrialRequest): Promise<TrialReply> {
  const listed = listSupportedBackends().find(({ name }) => name === device);
  if (listed === undefined) return { isListed: false };
  const missingLibrary = listed.bundled ? undefined : missing(device);
  if (missingLibrary !== undefined) return { isListed: true, missingLibrary };
  const graph = new GraphBuilder();
  const x = graph.input("x", "float32", [1]);
  graph.node("Mul", [x, x], {}, "y");
  graph.output("y", "float32", [1]);
  const session = await InferenceSession.create(graph.build("device"), sessionOptions(1, { device }));
  const { y } = await session.run({ x: new Tensor("float32", Float32Array.of(3), [1]) });
  if (y?.data[0] !== 9) return { isListed: true, error: "a test multiplication gave a wrong result" };
  return { isListed: true, ...(model && (await tryModel(device, model))) };
}

/** The provider's library, if it is not in the folder where the runtime looks for it. */
function missing(device: OnnxDevice): string | undefined {
  const root = path.dirname(createRequire(import.meta.url).resolve("onnxruntime-node/package.json"));
  const folder = path.join(root, "bin", "napi-v6", process.platform, process.arch);
  const library = path.join(folder, `libonnxruntime_providers_${device}.so`);
  return existsSync(library) ? undefined : library;
}

async function tryModel(
  device: OnnxDevice,
  { modelPackage, precision, hasVectors }: TriedModel,
): Promise<TrialReply> {
  const form = await multiplicationOf(precision);
  const options = { threads: 1, stateCacheBytes: 0, hasVectors };
  const leaves = trialLeaves(modelPackage.manifest.limits.max_state_question_tokens);
  const onCpu = await runOf(await loadRunner(modelPackage, form, options), leaves);
  const runner = await loadRunner(modelPackage, form, { ...options, place: { device } });
  return { onCpu, onDevice: await runOf(runner, leaves, HOPELESS * onCpu.ms) };
}

/** Pairs of ids that every vocabulary has. @param most maximum tokens of state and question */
function trialLeaves(most: number): readonly Node[] {
  const length = Math.min(STATE_TOKENS, most - 2);
  const state = nodeBelow(
    undefined,
    Int32Array.from({ length }, (_, at) => 1 + (at % 7)),
  );
  const below = (question: number[], ...candidates: number[][]) => {
    const node = nodeBelow(state, Int32Array.from(question));
    return candidates.map((candidate) => nodeBelow(node, Int32Array.from(candidate)));
  };
  return [...below([5], [6], [7, 3]), ...below([4, 1], [3], [5, 6, 7], [1])];
}

/** @param enoughMs a run of this duration is the last one */
async function runOf(runner: Runner, leaves: readonly Node[], enoughMs = Infinity): Promise<TrialRun> {
  const { scores } = await runner.score(leaves); // not timed: a driver compiles kernels at the first run
  let ms = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS && (run === 0 || ms < enoughMs); run++) {
    const since = performance.now();
    await runner.score(leaves);
    ms = Math.min(ms, performance.now() - since);
  }
  return { scores: [...scores], ms };
}

process.on("message", async (request: TrialRequest) => {
  const failed = (error: unknown) => ({ isListed: true, error: messageOf(error) });
  process.send?.(await tryDevice(request).catch(failed));
});
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
dieWithParent();
