import type { BackendChoice, BegunBackend } from "./backend.ts";
import { beginNative } from "./native/begin-native.ts";
import { beginOnnx } from "./onnx/begin-onnx.ts";
import { beginRemote } from "./remote/begin-remote.ts";

/** Every backend, by the value of `--backend`. */
const BACKENDS: Readonly<Record<BackendChoice["backend"], (choice: BackendChoice) => BegunBackend>> = {
  onnx: beginOnnx,
  native: beginNative,
  remote: beginRemote,
};

/** Begins to start the backend that the options name. */
export function beginBackend(choice: BackendChoice): BegunBackend {
  return BACKENDS[choice.backend](choice);
}
