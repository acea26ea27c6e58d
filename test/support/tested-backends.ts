import assert from "node:assert/strict";
import path from "node:path";
import { workerFolder } from "../../src/backends/native/begin-native.ts";
import { startNativeProcess } from "../../src/backends/native/native-process.ts";
import { startOnnxProcess } from "../../src/backends/onnx/process/onnx-process.ts";
import type { InferenceProcess } from "../../src/backends/process/inference-process.ts";
import type { Answer } from "../service/service.ts";
import { testedDevice } from "./native.ts";
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
  /** The function of node:child_process that starts it, and one that cuts the connection to the child. */
  readonly starter: "fork" | "spawn";
  readonly cut: string;
  /** Environment variables that make the process fail like this at the first state of more than 100 tokens. */
  planted(fault: PlantedFault): Readonly<Record<string, string>>;
  /** Options of a service with it. */
  readonly flags: readonly string[];
  /** Fails unless the answers are equal, bit by bit if the backend promises equal bits in any batch. */
  assertSame(answers: Answers, wanted: Answers): void;
}

/** nan: its scores are no numbers. */
export type PlantedFault = "hang" | "abort" | "segmentation" | "exception" | "nan";

type Answers = Readonly<Record<string, Answer>>;

export const onnxBackend: TestedBackend = {
  name: "onnx",
  start: () => startOnnxProcess("fp32"),
  module: "backends/onnx/process/onnx-process",
  started: 'startOnnxProcess("fp32")',
  command: "backends/onnx/process",
  starter: "fork",
  cut: "disconnect()",
  planted: plantedInNode,
  flags: [],
  assertSame: (answers, wanted) => assert.deepEqual(answers, wanted),
};

/** @param fault also those that only Node.js has, see planted-fault.cjs */
export function plantedInNode(fault: string): Readonly<Record<string, string>> {
  const plant = path.join(packageRoot, "test/support/planted-fault.cjs");
  return { NODE_OPTIONS: `--max-old-space-size=200 --require ${plant} --conditions="${fault}"` };
}

const reference = { device: testedDevice, precision: "fp32", strict: false };

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
  flags: ["--backend", "native", "--device", testedDevice, "--precision", "fp32"],
  assertSame: assertNear,
};

/** Compares scores of a backend whose rounding depends on the batch. */
export function assertNear(answers: Answers, wanted: Answers): void {
  assert.deepEqual(Object.keys(answers), Object.keys(wanted));
  for (const [name, { probabilities, ...answer }] of Object.entries(answers)) {
    assert.equal(answer.choice, wanted[name]?.choice);
    for (const [label, probability] of Object.entries(probabilities))
      assert.ok(Math.abs(probability - (wanted[name]?.probabilities[label] ?? Number.NaN)) < 1e-5, label);
  }
}

/** With its sitecustomize.py, Python does what TORCH_PLANTED_FAULT says. */
export const plantedFolder = path.join(packageRoot, "test/support/planted");
