import { environmentOf } from "../../process/environment.ts";

/** Keeps ONNX Runtime from sending and storing usage events, whatever the caller's environment says. */
export const NO_TELEMETRY = { ORT_DISABLE_TELEMETRY: "1" } as const;

/** How Node is to behave. */
const NODE = ["NODE_OPTIONS", "NODE_V8_COVERAGE"];

/** The environment of a process that loads ONNX Runtime. */
export function processEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...environmentOf(env, (name) => NODE.includes(name)), ...NO_TELEMETRY };
}
