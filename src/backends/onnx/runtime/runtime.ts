/**
 * ONNX Runtime, the only door to it: told before it is loaded to send no usage events and to store none.
 *
 * Since 1.30 the library by itself looks up a host of its makers and keeps a device id below `~/.cache/Microsoft`. It
 * reads the variable when it is loaded, hence the order of these two lines.
 */
import "./no-telemetry.ts";

export { InferenceSession, Tensor } from "onnxruntime-node";
