import { spawn } from "node:child_process";
import path from "node:path";
import { codeOf } from "../../errors.ts";
import type { BackendChoice } from "../backend.ts";
import { environmentOf } from "../process/environment.ts";
import { InferenceProcess } from "../process/inference-process.ts";
import { FrameReader, writeFrame } from "./frames.ts";

/** Name of the Python package in `native/`. */
const WORKER = "decision_native";
/** The Python interpreter, unless DECISION_PYTHON names another one. */
export const USUAL_PYTHON = "python3";

/** Variables that configure drivers, PyTorch and its libraries. They are passed on in addition to those of every process. */
const NEEDED =
  /^(OMP|KMP|MKL|OPENBLAS|GOMP|CUDA|CUDNN|CUBLAS|NVIDIA|HIP|HSA|ROCR|PYTORCH|TORCH)_|^(PYTHONHOME|VIRTUAL_ENV|CONDA_PREFIX)$/;

/**
 * Waiting threads of PyTorch sleep instead of spinning, unless the operator sets another policy. On a busy machine,
 * spinning threads take processor time from the thread that they wait for: a pair of 60 tokens took 1,100 ms instead of
 * 30 ms (measured with seven busy programs on two processors).
 */
const WAITING = { OMP_WAIT_POLICY: "PASSIVE" };

/**
 * Starts the Python worker, which will load a model in PyTorch.
 *
 * @param folder folder that contains the Python package `decision_native`
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
      cwd: folder, // Python searches its working folder for modules first, which must not be the caller's
      env: workerEnvironment(env, folder),
      windowsHide: true,
    });
    // if file descriptors run out, the pipes are undefined despite their types, and "error" follows
    const { stdin, stdout }: Partial<Pick<typeof child, "stdin" | "stdout">> = child;
    const reader = new FrameReader(receive);
    stdout?.on("data", (piece: Buffer) => {
      try {
        reader.add(piece);
      } catch {
        const message = `${python} wrote something else than messages to standard output. DECISION_PYTHON must name a Python interpreter, and neither a wrapper nor a start-up script of it may print.`;
        receive({ type: "refused", reason: "BACKEND_FAILED", message });
        child.kill("SIGKILL"); // the exit handler does the rest
      }
    });
    stdin?.on("error", () => {}); // senders learn of it by their callbacks, everyone else by the exit
    return {
      child,
      get isOpen() {
        return stdin?.writable === true;
      },
      send(message, done) {
        stdin?.write(writeFrame(message), (error) => done(error ?? null));
      },
      explain: (cause) => whyNot(python, cause),
      remedy: `Run ${python} -c "import numpy, torch" to see why. DECISION_PYTHON must name a Python 3.9 or later where this works.`,
    };
  });
}

/** Environment of the worker, without keys and tokens. @param folder folder that contains the package `decision_native` */
export function workerEnvironment(env: NodeJS.ProcessEnv, folder: string): NodeJS.ProcessEnv {
  return {
    ...WAITING,
    ...environmentOf(env, (name) => NEEDED.test(name)),
    PYTHONPATH: [folder, ...(env.PYTHONPATH ? [env.PYTHONPATH] : [])].join(path.delimiter),
    PYTHONDONTWRITEBYTECODE: "1",
  };
}

function whyNot(python: string, cause: Error): string | undefined {
  const code = codeOf(cause) ?? cause.message;
  const remedy = "Install Python 3.9 or later with PyTorch, or name one with DECISION_PYTHON.";
  if (code === "ENOENT") return `The backend native needs Python, but ${python} was not found. ${remedy}`;
  if (code === "EACCES") return `The backend native cannot run ${python}: it is not executable. ${remedy}`;
  return undefined;
}
