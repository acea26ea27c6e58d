import path from "node:path";
import { invalidOption } from "../../errors.ts";
import { architectureFacts } from "../../models/architectures/manifests.ts";
import { packageRoot } from "../../package-root.ts";
import type { BackendChoice, BegunBackend } from "../backend.ts";
import { ChildBackend } from "../process/child-backend.ts";
import { startNativeProcess } from "./native-process.ts";

/** Minimum time limit for loading a model. Chosen: PyTorch and a driver may take half a minute from a cold disk. */
const LOAD_MS = 300_000;

/** Folder that contains the Python package. */
export const workerFolder = path.join(packageRoot, "native");

/** `--backend native`: PyTorch in a process of its own. */
export function beginNative(choice: BackendChoice): BegunBackend {
  const startProcess = () => startNativeProcess(choice, workerFolder);
  const process = startProcess();
  return {
    open({ stateCacheBytes, ...settings }) {
      const { id, architecture } = settings.modelPackage.manifest;
      if (architectureFacts(architecture.type).hasOwnGraph)
        throw invalidOption(
          `${id} has its own ONNX graph, which the backend native cannot run. Use --backend onnx.`,
        );
      // the reference execution caches nothing: it computes every pair from its first token
      const kept = choice.strict ? 0 : stateCacheBytes;
      const modelPackage = { ...settings.modelPackage, folder: path.resolve(settings.modelPackage.folder) };
      const loadMs = Math.max(settings.loadMs, LOAD_MS);
      return new ChildBackend({
        ...settings,
        modelPackage,
        loadMs,
        stateCacheBytes: kept,
        startProcess,
        process,
      });
    },
    // if this is "auto", the worker reports the actual precision once it has loaded the model
    precisionOf: () => choice.precision,
    abandon: () => process.kill(),
  };
}
