import path from "node:path";
import { ServiceError } from "../../errors.ts";
import { packageRoot } from "../../package-root.ts";
import type { BackendChoice, BegunBackend } from "../backend.ts";
import { ChildBackend } from "../process/child-backend.ts";
import { startNativeProcess } from "./native-process.ts";

/** Time to load a model. Chosen: PyTorch and a driver may take half a minute from a cold disk. */
const LOAD_MS = 300_000;

/** Folder with the package in Python. */
export const workerFolder = path.join(packageRoot, "native");

/** `--backend native`: PyTorch in a process of its own. */
export function beginNative(choice: BackendChoice): BegunBackend {
  const startProcess = () => startNativeProcess(choice, workerFolder);
  const process = startProcess();
  return {
    open({ stateCacheBytes, ...settings }) {
      const { id, architecture } = settings.modelPackage.manifest;
      if (architecture.type === "onnx-joint-pairs")
        throw new ServiceError(
          "INVALID_OPTION",
          `${id} brings a graph of its own, which only the backend onnx runs: leave --backend native out.`,
        );
      // the reference execution computes every pair from its first token on
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
    // it knows what auto means once it has seen the device
    precisionOf: () => choice.precision,
    abandon: () => process.kill(),
  };
}
