import { environmentOf } from "../../process/environment.ts";

/** Keeps ONNX Runtime from sending and storing usage events, whatever the caller's environment says. */
export const NO_TELEMETRY = { ORT_DISABLE_TELEMETRY: "1" } as const;

/** CUDA's libraries multiply float32 in full precision, not in TF32 (19 bits), unless the operator sets this variable. */
const FULL_PRECISION = { NVIDIA_TF32_OVERRIDE: "0" } as const;

/** Variables that configure Node.js. */
const NODE = ["NODE_OPTIONS", "NODE_V8_COVERAGE"];

/** The environment of a process that loads ONNX Runtime. `CUDA_*` and `VK_*` choose GPUs and their drivers. */
export function processEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isNeeded = (name: string) => NODE.includes(name) || /^(CUDA_|VK_|NVIDIA_TF32_OVERRIDE$)/.test(name);
  return { ...FULL_PRECISION, ...environmentOf(env, isNeeded), ...NO_TELEMETRY };
}
