import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Precision } from "../../../models/graph/graph.ts";
import { InferenceProcess } from "../../process/inference-process.ts";
import type { FromProcess } from "../../process/messages.ts";
import { processEnvironment } from "./process-environment.ts";

/** The `.ts` file in a checkout that runs from source, the `.js` file once compiled. */
const entry = fileURLToPath(new URL(`./process${import.meta.url.slice(-3)}`, import.meta.url));
/**
 * Not the flags of this process: with `--eval` among them, the caller's program would run again in the new one.
 *
 * Its garbage is a few large arrays. Threads that collect it beside the kernels' take their processors from them: without, three
 * questions of four candidates on 160 tokens take 0.9 of the time, one more question on 1,000 tokens too (measured, 2 processors).
 * There is little of it besides these arrays, so that a young generation of 1 MiB is enough. Garbage says when they are collected.
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
