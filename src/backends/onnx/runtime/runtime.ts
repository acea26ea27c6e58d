/**
 * The only import of ONNX Runtime. Usage events are turned off before the library is loaded.
 *
 * Since 1.30 the library by default contacts its vendor's host and stores a device id in `~/.cache/Microsoft`. It reads the
 * environment variable when it is loaded, so the order of these two lines matters.
 */
import "./no-telemetry.ts";

export { env, InferenceSession, listSupportedBackends, Tensor } from "onnxruntime-node";
