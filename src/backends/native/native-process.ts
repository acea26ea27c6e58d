import { spawn } from "node:child_process";
import path from "node:path";
import type { BackendChoice } from "../backend.ts";
import { environmentOf } from "../process/environment.ts";
import { InferenceProcess } from "../process/inference-process.ts";
import { FrameReader, writeFrame } from "./frames.ts";

/** Name of the Python package in `native/`. */
const WORKER = "decision_native";
/** The Python interpreter, unless DECISION_PYTHON names another one. */
export const USUAL_PYTHON = "python3";

/** What drivers, PyTorch and its libraries for threads and memory are told by, besides what every process may know. */
const NEEDED =
  /^(OMP|KMP|MKL|OPENBLAS|GOMP|CUDA|CUDNN|CUBLAS|NVIDIA|HIP|HSA|ROCR|PYTORCH|TORCH)_|^(PYTHONHOME|VIRTUAL_ENV|CONDA_PREFIX)$/;

/**
 * PyTorch's threads sleep while they wait for one another, unless the operator says otherwise. Where they spin, on a processor that others
 * use too, the ones that wait take the time of the one that is waited for: a pair of 60 tokens took 1,100 ms in place of 30 ms (measured:
 * two processors with seven programs that compute).
 */
const WAITING = { OMP_WAIT_POLICY: "PASSIVE" };

/**
 * Starts the worker in Python that will hold a model in PyTorch.
 *
 * @param folder of the package `decision_native`
 */
export function startNativeProcess(
  { device, precision, strict }: Pick<BackendChoice, "device" | "precision" | "strict">,
  folder: string,
  env: NodeJS.ProcessEnv = process.env,
): InferenceProcess {
  const python = env.DECISION_PYTHON || USUAL_PYTHON;
  return new InferenceProcess((receive) => {
    const child = spawn(python, ["-m", WORKER, device, precision, strict ? "strict" : "batched"], {
      stdio: ["pipe", "pipe", "inherit"],
      cwd: folder, // Python would look for modules in the caller's folder first
      env: workerEnvironment(env, folder),
      windowsHide: true,
    });
    // without file descriptors there are no pipes, whatever the types say: "error" comes next
    const { stdin, stdout }: Partial<Pick<typeof child, "stdin" | "stdout">> = child;
    const reader = new FrameReader(receive);
    stdout?.on("data", (piece: Buffer) => {
      try {
        reader.add(piece);
      } catch {
        const message = `${python} wrote to standard output what is no message: DECISION_PYTHON must name a Python, and nothing around it may print.`;
        receive({ type: "refused", reason: "BACKEND_FAILED", message });
        child.kill("SIGKILL"); // its exit does the rest
      }
    });
    stdin?.on("error", () => {}); // who sends is told; else it has ended, which shows
    return {
      child,
      get isOpen() {
        return stdin?.writable === true;
      },
      send(message, done) {
        stdin?.write(writeFrame(message), (error) => done(error ?? null));
      },
      explain: (cause) => whyNot(python, cause),
      remedy: `Try ${python} -c "import numpy, torch": DECISION_PYTHON must name a Python 3.9 or later where this works.`,
    };
  });
}

/** No key and no token. @param folder of the package `decision_native` */
export function workerEnvironment(env: NodeJS.ProcessEnv, folder: string): NodeJS.ProcessEnv {
  return {
    ...WAITING,
    ...environmentOf(env, (name) => NEEDED.test(name)),
    PYTHONPATH: [folder, ...(env.PYTHONPATH ? [env.PYTHONPATH] : [])].join(path.delimiter),
    PYTHONDONTWRITEBYTECODE: "1",
  };
}

function whyNot(python: string, cause: Error): string | undefined {
  const code = "code" in cause ? String(cause.code) : cause.message;
  const remedy = "Install Python 3.9 or later with PyTorch, or name one with DECISION_PYTHON.";
  if (code === "ENOENT") return `The backend native needs Python, and there is no ${python} here. ${remedy}`;
  if (code === "EACCES") return `The backend native cannot run ${python}: it is not executable. ${remedy}`;
  return undefined;
}
