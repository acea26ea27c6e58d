import type { OnnxDevice } from "../runtime/session-options.ts";

const PROVIDERS: Readonly<Record<OnnxDevice, string>> = {
  cpu: "CPUExecutionProvider",
  cuda: "CUDAExecutionProvider",
  coreml: "CoreMLExecutionProvider",
  webgpu: "WebGpuExecutionProvider",
};

export const UNTOLD = "ONNX Runtime does not report which operators run on it";

/**
 * The operators of a graph that the runtime has placed elsewhere because the device's provider does not implement them. The
 * few operators on shapes that the runtime keeps on the CPU by choice do not count.
 *
 * @param log output of the runtime on stderr with `logSeverityLevel` 0
 * @returns   a reason that names the operators; `UNTOLD` if the log does not report placements; undefined if all run on the
 *            device
 * @see VerifyEachNodeIsAssignedToAnEp, onnxruntime/core/framework/session_state.cc
 * @see GetCpuPreferredNodes, onnxruntime/core/framework/fallback_cpu_capability.cc
 */
export function operatorsElsewhere(log: string, device: OnnxDevice): string | undefined {
  let provider: string | undefined;
  let isOnDevice = false;
  const kept = new Set<string>();
  const lacking = new Map<string, number>();
  for (const line of log.split("\n")) {
    const forced = /Force fallback to CPU execution for node: (\S+) /.exec(line)?.[1];
    if (forced !== undefined) kept.add(forced);
    provider = /odes? ?\(?s?\)? placed on \[(\w+)\]/.exec(line)?.[1] ?? provider;
    if (provider === PROVIDERS[device]) isOnDevice = true;
    const node = /VerifyEachNodeIsAssignedToAnEp\] {2,}(\S+) \((.*)\)/.exec(line);
    if (!node || provider === undefined || provider === PROVIDERS[device]) continue;
    const [, operator = "", name = ""] = node;
    if (!kept.has(name)) lacking.set(operator, (lacking.get(operator) ?? 0) + 1);
  }
  if (lacking.size > 0) {
    const most = [...lacking].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    return `its provider lacks operators of this model: ${most.map(([name, count]) => `${name} (${count})`).join(", ")}`;
  }
  return isOnDevice ? undefined : UNTOLD;
}
