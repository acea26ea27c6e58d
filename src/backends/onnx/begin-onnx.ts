import { architectureFacts } from "../../models/architectures/manifests.ts";
import type { BackendChoice, BegunBackend } from "../backend.ts";
import { ChildBackend } from "../process/child-backend.ts";
import { startOnnxProcess } from "./process/onnx-process.ts";

/** `--backend onnx`: ONNX Runtime in a process of its own. */
export function beginOnnx(choice: BackendChoice): BegunBackend {
  const precision = choice.precision === "fp32" ? "fp32" : "int8";
  const startProcess = () => startOnnxProcess(precision);
  const process = startProcess();
  return {
    open: (settings) => new ChildBackend({ ...settings, startProcess, process }),
    // a package's own graph has its own number formats
    precisionOf: ({ manifest }) =>
      architectureFacts(manifest.architecture.type).hasOwnGraph ? "graph" : precision,
    abandon: () => process.kill(),
  };
}
