import { type EventEmitter, once } from "node:events";
import { parentPort, Worker } from "node:worker_threads";
import { messageOf } from "../../../errors.ts";
import { watchParent } from "../runtime/parent-watch.ts";

/** A thread's message after it has started, and after each task. */
type Reply<Result> = { readonly result: Result } | { readonly message: string } | "started";

/** The extension of modules: `.ts` when running from source, `.js` when compiled. */
const EXTENSION = import.meta.url.slice(-3);

/** Module hooks do not apply to new threads. When running from source, each thread must register tsx itself. */
function startThread(program: string, workerData: unknown): Worker {
  const entry = new URL(`./${program}${EXTENSION}`, import.meta.url);
  if (EXTENSION !== ".ts") return new Worker(entry, { workerData, execArgv: [] });
  const [tsx, file] = [import.meta.resolve("tsx/esm/api"), entry.href].map((url) => JSON.stringify(url));
  const code = `import(${tsx}).then(({ register }) => (register(), import(${file})))`;
  return new Worker(code, { eval: true, workerData, execArgv: [] });
}

/**
 * The caller's handle of a worker thread, which computes tasks in the order in which it gets them. It keeps the process alive only
 * while a result is awaited.
 */
export class WorkerThread<Task, Result> {
  readonly #thread: Worker;
  /** Receivers of the next replies, in the order of the tasks. */
  readonly #receivers: ((reply: Reply<Result>) => void)[] = [];

  private constructor(thread: Worker) {
    this.#thread = thread;
    thread.on("message", (reply: Reply<Result>) => {
      this.#receivers.shift()?.(reply);
      if (this.#receivers.length === 0) thread.unref();
    });
    thread.unref(); // only now, because a new listener keeps the process alive
  }

  /**
   * Resolves when the thread's program has called `answerTasks`.
   *
   * @param program  name of the module beside this one, without extension
   * @param settings its `workerData`
   */
  static async start<Task, Result>(program: string, settings: unknown): Promise<WorkerThread<Task, Result>> {
    const thread = startThread(program, settings);
    await once(thread, "message"); // or an error, with which this rejects
    endWith(thread);
    return new WorkerThread(thread);
  }

  /** Tasks without a reply. */
  get waiting(): number {
    return this.#receivers.length;
  }

  /** @param transfer buffers whose ownership moves to the thread */
  async run(task: Task, transfer: readonly ArrayBuffer[] = []): Promise<Result> {
    this.#thread.postMessage(task, transfer);
    this.#thread.ref();
    const reply = await new Promise<Reply<Result>>((resolve) => this.#receivers.push(resolve));
    if (reply === "started") throw new Error("a thread has started twice");
    if ("result" in reply) return reply.result;
    throw new Error(reply.message);
  }
}

/** Ends the process when the thread ends, so that it is restarted. Otherwise callers would wait for the thread forever. */
export function endWith(thread: EventEmitter): void {
  for (const event of ["exit", "messageerror", "error"]) {
    thread.once(event, (cause: unknown) => {
      throw new Error("a forward thread ended", { cause });
    });
  }
}

interface Program<Task, Result> {
  /** Called for one task at a time. */
  compute(task: Task): Promise<Result>;
  /** Buffers of a result that are transferred, not copied. */
  buffersOf?(result: Result): readonly ArrayBuffer[];
  /** Called after the reply. */
  afterwards?(task: Task): void;
}

/** In the thread: answers the tasks of its `WorkerThread`, and ends the process when its parent has died. */
export function answerTasks<Task, Result>(program: Program<Task, Result>): void {
  const port = parentPort;
  if (!port) throw new Error("must be started as a worker thread");
  watchParent();
  const send = (reply: Reply<Result>, transfer: readonly ArrayBuffer[] = []) =>
    port.postMessage(reply, transfer);
  const answer = async (task: Task) => {
    try {
      const result = await program.compute(task);
      send({ result }, program.buffersOf?.(result));
    } catch (error) {
      send({ message: messageOf(error) });
    }
    program.afterwards?.(task);
  };
  let last = Promise.resolve();
  port.on("message", (task: Task) => {
    last = last.then(() => answer(task));
  });
  send("started");
}

/** Results by the index of the task. */
export type Results<Result> = ReadonlyMap<number, Result>;

/**
 * Computes tasks until no thread has one left.
 *
 * @param next shared memory: Int32 index of the next free task
 */
export async function takeTasks<Task, Result>(
  next: SharedArrayBuffer,
  tasks: readonly Task[],
  run: (task: Task) => Promise<Result>,
): Promise<Results<Result>> {
  const counter = new Int32Array(next);
  const results = new Map<number, Result>();
  try {
    for (;;) {
      const at = Atomics.add(counter, 0, 1);
      const task = tasks[at];
      if (task === undefined) return results;
      results.set(at, await run(task));
    }
  } catch (error) {
    Atomics.store(counter, 0, tasks.length); // the batch has failed: stop the other threads
    throw error;
  }
}

/** Shared memory for `takeTasks`. */
export const newCounter = () => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);

/**
 * The results of all tasks, as soon as the last one has come: other threads may still have to find that nothing is
 * left.
 */
export function gather<Result>(
  parts: readonly Promise<Results<Result>>[],
  count: number,
): Promise<Results<Result>> {
  const all = new Map<number, Result>();
  return new Promise((resolve, reject) => {
    const add = (part: Results<Result>) => {
      for (const [at, result] of part) all.set(at, result);
      if (all.size === count) resolve(all);
    };
    for (const part of parts) part.then(add, reject);
  });
}
