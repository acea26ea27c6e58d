import { onnxDevices } from "../backends/onnx/process/choose-device.ts";
import { cpuCount } from "../backends/onnx/runtime/cpu-count.ts";
import { type PythonDevices, pythonDevices } from "./python-devices.ts";

/** A device of a backend on this machine. */
export interface DeviceRow {
  readonly backend: "onnx" | "native" | "remote";
  /** As `--device` takes it; empty where the backend takes none. */
  readonly device: string;
  readonly isUsable: boolean;
  /** What it is, or why it cannot be used. */
  readonly details: string;
}

/** What this machine can do, by backend. Starts processes that load the runtimes, and ends them. */
export async function allDevices(env: NodeJS.ProcessEnv): Promise<readonly DeviceRow[]> {
  const [onnx, python] = await Promise.all([onnxDevices(), pythonDevices(env.DECISION_PYTHON || undefined)]);
  return [
    ...onnx.map(({ device, isAvailable, reason }) => ({
      backend: "onnx" as const,
      device,
      isUsable: isAvailable,
      details: reason ?? (device === "cpu" ? processors() : ""),
    })),
    ...nativeRows(python),
    {
      backend: "remote",
      device: "",
      isUsable: false,
      details: "needs a server: --backend remote --remote-url http://HOST:PORT",
    },
  ];
}

function processors(): string {
  const count = cpuCount();
  return `${count} ${count === 1 ? "processor" : "processors"}`;
}

/** Rows of what PyTorch can do. */
export function nativeRows(python: PythonDevices): readonly DeviceRow[] {
  const row = (device: string, isUsable: boolean, details: string): DeviceRow => ({
    backend: "native",
    device,
    isUsable,
    details,
  });
  if ("reason" in python) return ["cpu", "cuda", "mps"].map((device) => row(device, false, python.reason));
  const { torch, cuda, cudaVersion, mps } = python;
  const without =
    cudaVersion === null ? "this build of PyTorch has no CUDA" : "PyTorch finds no CUDA GPU, or no driver";
  return [
    row("cpu", true, `PyTorch ${torch}, ${processors()}`),
    ...(cuda.length === 0 ? [row("cuda", false, without)] : []),
    ...cuda.map(({ name, bytes }, at) =>
      row(`cuda:${at}`, true, `${name}, ${(bytes / 2 ** 30).toFixed(1)} GiB`),
    ),
    row("mps", mps, mps ? `PyTorch ${torch}` : "PyTorch finds no Metal: it needs macOS on Apple silicon"),
  ];
}
