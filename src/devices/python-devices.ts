import { execFile } from "node:child_process";
import { workerFolder } from "../backends/native/begin-native.ts";
import { USUAL_PYTHON, workerEnvironment } from "../backends/native/native-process.ts";

/** What PyTorch can compute on, or why it cannot be asked. */
export type PythonDevices =
  | { readonly reason: string }
  | {
      readonly torch: string;
      /** That PyTorch was built with; null without. */
      readonly cudaVersion: string | null;
      readonly cuda: readonly { readonly name: string; readonly bytes: number }[];
      readonly mps: boolean;
    };

/** Chosen: PyTorch takes some seconds to load from a slow disk. */
const PYTHON_MS = 30_000;

/** With the worker's own sentences. */
const PROGRAM = `
import json
from decision_native.prepare import import_torch
from decision_native.refusal import Refusal
try:
    torch = import_torch()
except Refusal as refusal:
    print(json.dumps({"refusal": str(refusal)}))
else:
    cuda = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    print(json.dumps({
        "torch": torch.__version__,
        "cudaVersion": torch.version.cuda or torch.version.hip,
        "cuda": [{"name": p.name, "bytes": p.total_memory} for p in cuda],
        "mps": torch.backends.mps.is_available(),
    }))
`;

/** @param python a program's name or path @param timeoutMs after which it is ended */
export function pythonDevices(python = USUAL_PYTHON, timeoutMs = PYTHON_MS): Promise<PythonDevices> {
  return new Promise((resolve) => {
    const options = {
      timeout: timeoutMs,
      killSignal: "SIGKILL" as const,
      cwd: workerFolder, // Python would look for modules in the caller's folder first
      env: workerEnvironment(process.env, workerFolder),
    };
    execFile(python, ["-c", PROGRAM], options, (error, stdout, stderr) => {
      if (error) resolve({ reason: faultOf(error, python, timeoutMs, stderr) });
      else resolve(readAnswer(stdout, python));
    });
  });
}

function faultOf(
  error: Error & { code?: unknown; killed?: boolean },
  python: string,
  timeoutMs: number,
  stderr: string,
): string {
  const name = "DECISION_PYTHON names another Python";
  if (error.code === "ENOENT") return `there is no ${python}; ${name}`;
  if (error.code === "EACCES") return `${python} may not be executed; ${name}`;
  if (error.killed === true) return `${python} did not answer within ${timeoutMs / 1000} s`;
  const last = stderr.trim().split("\n").at(-1);
  return `${python} failed${last ? `: ${last.slice(0, 200)}` : ""}`;
}

function readAnswer(stdout: string, python: string): PythonDevices {
  try {
    // the last line: what is imported may print
    const answer = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    if (typeof answer.refusal === "string") return { reason: answer.refusal };
    if (typeof answer.torch === "string" && Array.isArray(answer.cuda)) return answer;
  } catch {
    // below
  }
  return { reason: `${python} answered what is no answer of Python with PyTorch` };
}
