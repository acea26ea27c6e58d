import { type ForwardTask, type Node, pastNodes } from "../../tensors/forward.ts";
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
 * `run` blocks its JavaScript thread, so each parallel forward needs a thread of its own. The first thread is the caller's.
 * docs/performance.md, Threads, has the figures.
 */
export class ForwardThreads {
  readonly #together: ForwardRunner;
  readonly #own: ForwardRunner;
  readonly #helpers: readonly ForwardHelper[];
  #ownTurn: Promise<unknown> = Promise.resolve();

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
    const settings = { graph, shape: model.shape };
    const [own, ...helpers] = await Promise.all([
      model.threads === 1 ? together : ForwardRunner.load(graph, model, 1),
      ...Array.from({ length: model.forwardThreads - 1 }, () => ForwardHelper.start(settings)),
    ]);
    return new ForwardThreads(together, own, helpers);
  }

  /** Number of forwards that may run in parallel. */
  get count(): number {
    return 1 + this.#helpers.length;
  }

  /**
   * Runs independent tasks. Several calls may be under way: their tasks are taken in the order of the calls, so a processor that
   * has nothing left to do for one call goes on with the next.
   *
   * @param mayUseAll whether a task may run in all threads, which requires that no other call is under way
   */
  async run(tasks: readonly ForwardTask[], known: Known, mayUseAll = true): Promise<Results> {
    const { alone, sideBySide } = mayUseAll
      ? shareOut(tasks)
      : { alone: [], sideBySide: longestFirst(tasks) };
    const { given, kept, needed } = giveAway(sideBySide, known);
    const round = { tasks: given, next: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT) };
    const isOwnBusy = kept.length > 0 || !mayUseAll;
    const helpers = this.#helpers.slice(0, isOwnBusy ? given.length : Math.max(0, given.length - 1));
    const answers = helpers.map((helper) => helper.run({ ...round, known: copiesOf(needed, known) }));
    const results = new Map<ForwardTask, ForwardResult>();
    const own = this.#inTurn(async () => {
      for (const task of kept) results.set(task, await this.#own.run(task, known));
      return runTaken(this.#own, { ...round, known });
    });
    for (const part of await Promise.allSettled([own, ...answers])) {
      if (part.status === "rejected") throw part.reason;
      for (const [number, result] of part.value) {
        const task = given[number];
        if (task) results.set(task, result);
      }
    }
    for (const task of alone) results.set(task, await this.#together.run(task, known));
    return results;
  }

  /** Calls back when the caller's thread has done its part of all earlier calls of `run`. */
  #inTurn<Result>(compute: () => Promise<Result>): Promise<Result> {
    const result = this.#ownTurn.then(compute);
    this.#ownTurn = result.catch(() => {}); // the caller of `run` gets the error
    return result;
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
