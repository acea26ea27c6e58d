/**
 * Tries a device. Runs in a process of its own, because a driver may crash it, and because the runtime reports only on
 * stderr on which device it has placed each operator.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { Precision } from "../../../models/architectures/architecture.ts";
import type { ModelPackage } from "../../../models/package/package.ts";
import { GraphBuilder } from "../../../onnx/file/graph-builder.ts";
import { dieWithParent } from "../runtime/parent-watch.ts";
import { InferenceSession, listSupportedBackends, Tensor } from "../runtime/runtime.ts";
import { type OnnxDevice, sessionOptions } from "../runtime/session-options.ts";
import { loadRunner, multiplicationOf } from "./load-runner.ts";
import { largestDifference, referenceScores } from "./reference-scores.ts";

/** What to try: the device alone, or a model on it. */
export type TrialRequest =
  | { readonly type: "device"; readonly device: OnnxDevice }
  | {
      readonly type: "model";
      readonly device: OnnxDevice;
      readonly modelPackage: ModelPackage;
      readonly precision: Precision;
      readonly hasVectors: boolean;
    };

/** The outcome of a trial. */
export interface TrialReply {
  /** Whether the installed package has a provider of this name. */
  readonly isListed?: boolean;
  /** Path of the provider's library, if the package does not contain it and it is not installed there. */
  readonly missingLibrary?: string | undefined;
  /** Error message of the runtime. */
  readonly error?: string | undefined;
  /** Largest difference of a score to the reference. */
  readonly difference?: number;
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function tryDevice(device: OnnxDevice): Promise<TrialReply> {
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
  return {
    isListed: true,
    error: y?.data[0] === 9 ? undefined : "a test multiplication gave a wrong result",
  };
}

/** The provider's library, if it is not in the folder where the runtime looks for it. */
function missing(device: OnnxDevice): string | undefined {
  const root = path.dirname(createRequire(import.meta.url).resolve("onnxruntime-node/package.json"));
  const folder = path.join(root, "bin", "napi-v6", process.platform, process.arch);
  const library = path.join(folder, `libonnxruntime_providers_${device}.so`);
  return existsSync(library) ? undefined : library;
}

async function tryModel({
  device,
  modelPackage,
  precision,
  hasVectors,
}: Extract<TrialRequest, { type: "model" }>): Promise<TrialReply> {
  const form = await multiplicationOf(precision);
  const options = { threads: 1, stateCacheBytes: 0, hasVectors };
  const runner = await loadRunner(modelPackage, form, { ...options, place: { device, isTold: true } });
  const onCpu = () => loadRunner(modelPackage, form, options);
  const { forest, scores } = await referenceScores(modelPackage, precision, onCpu);
  return { difference: largestDifference(scores, (await runner.score(forest)).scores) };
}

/**
 * Makes writes to stderr wait while its pipe is full. Node.js makes the pipe non-blocking when it creates `process.stderr`. The
 * runtime's stream then fails at the first write that finds the pipe full, and drops all later lines.
 */
function blockOnStderr(): void {
  // internal to Node.js, so nothing of it is certain to exist
  const { _handle } = process.stderr as { _handle?: { setBlocking?(isBlocking: boolean): void } | null };
  _handle?.setBlocking?.(true);
}

blockOnStderr();
process.on("message", async (request: TrialRequest) => {
  const trial = request.type === "device" ? tryDevice(request.device) : tryModel(request);
  const reply = await trial.catch((error: unknown) => ({ isListed: true, error: messageOf(error) }));
  process.send?.(reply);
});
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
dieWithParent();
