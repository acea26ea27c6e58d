import type { BackendChoice, BegunBackend } from "./backend.ts";
import { beginNative } from "./native/begin-native.ts";
import { beginOnnx } from "./onnx/begin-onnx.ts";

type Begin = (choice: BackendChoice) => BegunBackend | Promise<BegunBackend>;

/** Every backend, by the value of `--backend`. */
const BACKENDS: Readonly<Record<BackendChoice["backend"], Begin>> = {
  onnx: beginOnnx,
  native: beginNative,
  // imported on demand: its HTTP client takes 3 MB of memory
  remote: async (choice) => (await import("./remote/begin-remote.ts")).beginRemote(choice),
};

/** Starts the backend that the options name, without waiting until it is ready. */
export async function beginBackend(choice: BackendChoice): Promise<BegunBackend> {
  return BACKENDS[choice.backend](choice);
}
