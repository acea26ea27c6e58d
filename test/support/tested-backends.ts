import path from "node:path";
import { workerFolder } from "../../src/backends/native/begin-native.ts";
import { startNativeProcess } from "../../src/backends/native/native-process.ts";
import { startOnnxProcess } from "../../src/backends/onnx/process/onnx-process.ts";
import type { InferenceProcess } from "../../src/backends/process/inference-process.ts";
import { packageRoot } from "./package-root.ts";

/** A backend on which the tests of what happens to processes are run. */
export interface TestedBackend {
  /** The value of --backend. */
  readonly name: string;
  /** Starts a process that computes in float32. */
  start(): InferenceProcess;
  /** The same in a program of its own: a module of src, and a call of what it exports. */
  readonly module: string;
  readonly started: string;
  /** Part of the command line of such a process. */
  readonly command: string;
  /** The function of node:child_process that starts it, and what cuts the way to the child that it returns. */
  readonly starter: "fork" | "spawn";
  readonly cut: string;
  /** Variables with which such a process does that to the first state of more than 100 tokens. */
  planted(fault: "hang"): Readonly<Record<string, string>>;
}

export const onnxBackend: TestedBackend = {
  name: "onnx",
  start: () => startOnnxProcess("fp32"),
  module: "backends/onnx/process/onnx-process",
  started: 'startOnnxProcess("fp32")',
  command: "backends/onnx/process",
  starter: "fork",
  cut: "disconnect()",
  planted(fault) {
    const plant = path.join(packageRoot, "test/support/planted-fault.cjs");
    return { NODE_OPTIONS: `--require ${plant} --conditions="${fault}"` };
  },
};

const reference = { device: "cpu", precision: "fp32", strict: false };

/** Of the Python that DECISION_PYTHON names. */
export const nativeBackend: TestedBackend = {
  name: "native",
  start: () => startNativeProcess(reference, workerFolder),
  module: "backends/native/native-process",
  started: `startNativeProcess(${JSON.stringify(reference)}, ${JSON.stringify(workerFolder)})`,
  command: "decision_native",
  starter: "spawn",
  cut: "stdin.destroy()",
  planted: (fault) => ({ PYTHONPATH: plantedFolder, TORCH_PLANTED_FAULT: fault }),
};

/** With its sitecustomize.py, Python does what TORCH_PLANTED_FAULT says. */
export const plantedFolder = path.join(packageRoot, "test/support/planted");
