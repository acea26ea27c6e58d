import type { Node } from "../../../inference/nodes.ts";
import { type ForwardTask, pastNodes } from "../../tensors/forward.ts";
import { byteLength, copyOf, type KeyValues } from "../../tensors/key-values.ts";
import type { TreeModel } from "../../tensors/tree-model.ts";
import type { Place } from "../runtime/session-options.ts";
import { ForwardHelper } from "./forward-helper.ts";
import { longestFirst, shareOut } from "./forward-rounds.ts";
import { type ForwardResult, ForwardRunner, type Known } from "./forward-runner.ts";
import { runTaken } from "./taken-tasks.ts";

/** Maximum bytes of keys and values copied to a helper per round. Chosen: a state of 2,048 tokens has 38 MB with the embedded model. */
const MOST_GIVEN_BYTES = 64 << 20;

type Results = ReadonlyMap<ForwardTask, ForwardResult>;

/**
 * Runs forwards on several processors: in parallel with one thread each, or one forward in all threads.
 *
 * Parallel forwards are preferred, because threads that share a forward synchronize at each of its about 400 kernels.
 * `run` blocks its JavaScript thread, so each parallel forward needs a thread of its own. There is a helper for each
 * processor. In `run`, the caller's thread takes the place of the last helper, which saves a copy of keys and values. In
 * `runBeside`, the caller's thread stays free to receive more work. So the last helper gets small forwards only, and its
 * session has a heap of its own. With two processors, no buffer of small forwards moves between their caches.
 */
export class ForwardThreads {
  readonly #together: ForwardRunner;
  readonly #own: ForwardRunner;
  readonly #helpers: readonly ForwardHelper[];
  #last: Promise<unknown> = Promise.resolve();

  private constructor(together: ForwardRunner, own: ForwardRunner, helpers: readonly ForwardHelper[]) {
    this.#together = together;
    this.#own = own;
    this.#helpers = helpers;
  }

  /**
   * @param graph bytes of the ONNX file, or its path
   * @param model shape of the model, for the helpers
   * @param place device and placement log; only for a model with one thread
   */
  static async start(graph: Uint8Array | string, model: TreeModel, place?: Place): Promise<ForwardThreads> {
    const together = await ForwardRunner.load(graph, model, model.threads, place);
    if (model.forwardThreads === 1) return new ForwardThreads(together, together, []);
    // only now: threads inherit the denormal setting of the process's first session
    const count = model.forwardThreads;
    const [own, ...helpers] = await Promise.all([
      model.threads === 1 ? together : ForwardRunner.load(graph, model, 1),
      ...Array.from({ length: count }, (_, at) =>
        ForwardHelper.start({ graph, shape: model.shape, isForSmall: at === count - 1 }),
      ),
    ]);
    return new ForwardThreads(together, own, helpers);
  }

  /** Number of forwards that may run in parallel. */
  get count(): number {
    return Math.max(1, this.#helpers.length);
  }

  /** Whether `runBeside` may be called. */
  get canOverlap(): boolean {
    return this.#helpers.length > 0;
  }

  /** One call at a time, and none of `runBeside` meanwhile. @param tasks independent tasks */
  run(tasks: readonly ForwardTask[], known: Known): Promise<Results> {
    const results = this.#last.then(() => this.#run(tasks, known));
    // the caller gets the error; later calls start afresh
    this.#last = results.then(
      () => {},
      () => {},
    );
    return results;
  }

  async #run(tasks: readonly ForwardTask[], known: Known): Promise<Results> {
    const { alone, sideBySide } = shareOut(tasks);
    const { given, kept, needed } = giveAway(sideBySide, known);
    const round = newRound(given);
    const count = kept.length > 0 ? given.length : Math.max(0, given.length - 1);
    const helpers = this.#helpers.slice(0, Math.min(count, this.count - 1));
    const answers = helpers.map((helper) => helper.run({ ...round, known: copiesOf(needed, known) }));
    const results = new Map<ForwardTask, ForwardResult>();
    const own = async () => {
      for (const task of kept) results.set(task, await this.#own.run(task, known));
      return runTaken(this.#own, { ...round, known });
    };
    for (const part of await Promise.allSettled([own(), ...answers])) {
      if (part.status === "rejected") throw part.reason;
      note(results, given, part.value);
    }
    for (const task of alone) results.set(task, await this.#together.run(task, known));
    return results;
  }

  /**
   * Runs tasks in the helpers. Several calls may be under way: their tasks are taken in the order of the calls, and a helper that
   * finds no task left of one call goes on with the next.
   *
   * @param tasks at least one; independent, and small, because their keys and values are copied
   */
  runBeside(tasks: readonly ForwardTask[], known: Known): Promise<Results> {
    const ordered = longestFirst(tasks);
    const needed = new Set(ordered.flatMap(({ forward }) => pastNodes(forward)));
    const round = newRound(ordered);
    const helpers = needed.size === 0 ? this.#helpers : this.#leastBusy(ordered.length);
    const results = new Map<ForwardTask, ForwardResult>();
    return new Promise((resolve, reject) => {
      const add = (part: ReadonlyMap<number, ForwardResult>) => {
        note(results, ordered, part);
        if (results.size === ordered.length) resolve(results); // other helpers may still have to find that nothing is left
      };
      for (const helper of helpers)
        helper.run({ ...round, known: copiesOf(needed, known) }).then(add, reject);
    });
  }

  #leastBusy(count: number): readonly ForwardHelper[] {
    return [...this.#helpers].sort((a, b) => a.waiting - b.waiting).slice(0, count);
  }
}

function newRound(tasks: readonly ForwardTask[]) {
  return { tasks, next: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT) };
}

/** @param part results by index of the task */
function note(
  results: Map<ForwardTask, ForwardResult>,
  tasks: readonly ForwardTask[],
  part: ReadonlyMap<number, ForwardResult>,
): void {
  for (const [number, result] of part) {
    const task = tasks[number];
    if (task) results.set(task, result);
  }
}

/** Tasks for the helpers, and the nodes whose keys and values they need, within the byte limit. The caller runs the others. */
function giveAway(tasks: readonly ForwardTask[], known: Known) {
  const [given, kept]: [ForwardTask[], ForwardTask[]] = [[], []];
  const needed = new Set<Node>();
  let bytes = 0;
  for (const task of tasks) {
    const more = pastNodes(task.forward).filter((node) => !needed.has(node));
    const added = more.reduce((sum, node) => sum + bytesOf(known.get(node)), 0);
    if (bytes + added > MOST_GIVEN_BYTES) {
      kept.push(task);
      continue;
    }
    bytes += added;
    for (const node of more) needed.add(node);
    given.push(task);
  }
  return { given, kept, needed };
}

const bytesOf = (keyValues: KeyValues | undefined) => (keyValues ? byteLength(keyValues) : 0);

function copiesOf(nodes: ReadonlySet<Node>, known: Known): Known {
  const copies = new Map<Node, KeyValues>();
  for (const node of nodes) {
    const keyValues = known.get(node);
    if (keyValues) copies.set(node, copyOf(keyValues));
  }
  return copies;
}
