import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { processEnvironment } from "../../src/backends/onnx/process/process-environment.ts";
import type { TaskCall, TaskName, TaskReply, Tasks } from "./tasks.ts";

/** The `.ts` file when running from source, the `.js` file when compiled. */
const entry = fileURLToPath(new URL(`./task-entry${import.meta.url.slice(-3)}`, import.meta.url));
const execArgv = entry.endsWith(".ts") ? ["--import", import.meta.resolve("tsx")] : [];

interface Waiting {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A child process for blocking computation, so that progress and Ctrl-C work during the runtime's synchronous runs. It
 * ends with this process.
 */
export class TaskProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;

  constructor() {
    this.#child = fork(entry, [], {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv,
      env: processEnvironment(process.env), // the allocator's settings are those of the service
    });
    this.#child.on("message", (reply: TaskReply) => {
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if ("error" in reply) waiting?.reject(new Error(reply.error));
      else waiting?.resolve(reply.output);
    });
    this.#child.on("exit", (code, signal) => this.#fail(`ended (${signal ?? code})`));
    this.#child.on("error", (error) => this.#fail(error.message));
  }

  async run<Name extends TaskName>(task: Name, input: Tasks[Name]["input"]): Promise<Tasks[Name]["output"]> {
    const id = this.#nextId++;
    const call: TaskCall<Name> = { id, task, input };
    const output = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send(call, (error) => error && reject(error));
    });
    // the child process uses the same table
    return (await output) as Tasks[Name]["output"];
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL"); // it may be in a run
    await exited;
  }

  #fail(how: string): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(`a process of the bench ${how}`));
    this.#waiting.clear();
  }
}
