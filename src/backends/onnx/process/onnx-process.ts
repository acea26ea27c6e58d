import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Precision } from "../../../models/architectures/architecture.ts";
import { InferenceProcess } from "../../process/inference-process.ts";
import type { FromProcess } from "../../process/messages.ts";
import { processEnvironment } from "./process-environment.ts";

/** The `.ts` file in a checkout that runs from source, the `.js` file once compiled. */
const entry = fileURLToPath(new URL(`./process${import.meta.url.slice(-3)}`, import.meta.url));
/**
 * Node.js flags of the inference process. This process's flags are not inherited: `--eval` would run the caller's program
 * again.
 *
 * Its garbage is mostly a few large arrays, and the class BufferCollector decides when they are collected. Parallel collector
 * threads would compete with the kernels for processors: without them, latency is 0.9 times as long, both for three
 * questions of four candidates on 160 tokens and for another question on 1,000 tokens (measured, 2 processors). Little else
 * is allocated, so a young generation of 1 MiB is enough.
 */
const execArgv = [
  "--single-threaded-gc",
  "--expose-gc",
  "--max-semi-space-size=1",
  ...(entry.endsWith(".ts") ? ["--import", import.meta.resolve("tsx")] : []),
];

/** Starts a process that will hold a model in ONNX Runtime. */
export function startOnnxProcess(precision: Precision): InferenceProcess {
  return new InferenceProcess((receive) => {
    const child = fork(entry, [precision], {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv,
      env: processEnvironment(process.env),
    });
    child.on("message", (message: FromProcess) => receive(message));
    return {
      child,
      get isOpen() {
        return child.connected;
      },
      send: (message, done) => {
        child.send(message, done);
      },
    };
  });
}
