import { type ForwardTask, type Node, pastNodes } from "../tensors/forward.ts";
import { byteLength, copyOf, type KeyValues } from "../tensors/key-values.ts";
import type { TreeModel } from "../tensors/tree-model.ts";
import { ForwardHelper } from "./forward-helper.ts";
import { shareOut } from "./forward-rounds.ts";
import { type ForwardResult, ForwardRunner, type Known } from "./forward-runner.ts";
import { runTaken } from "./taken-tasks.ts";

/** Keys and values that a helper is given for a round. Chosen: those of a state of 2,048 tokens are 38 MB with the embedded model. */
const MOST_GIVEN_BYTES = 64 << 20;

type Results = ReadonlyMap<ForwardTask, ForwardResult>;

/**
 * Runs forwards on several processors: side by side, each in one thread, or one alone in all of them.
 *
 * Side by side is better where it can be had: threads that share a forward have to meet at each of its some four hundred kernels.
 * On two processors they take 0.66 to 0.88 of the time of one, whereas two forwards side by side take no longer than one
 * (measured). JavaScript waits while kernels run, so each needs a thread of its own; the first is the caller's.
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
   * @param model helpers make theirs of its shape
   */
  static async start(graph: Uint8Array | string, model: TreeModel): Promise<ForwardThreads> {
    const together = await ForwardRunner.load(graph, model, model.threads);
    if (model.forwardThreads === 1) return new ForwardThreads(together, together, []);
    // only now: threads take over what the process's first session sets about denormal numbers
    const settings = { graph, shape: model.shape };
    const [own, ...helpers] = await Promise.all([
      model.threads === 1 ? together : ForwardRunner.load(graph, model, 1),
      ...Array.from({ length: model.forwardThreads - 1 }, () => ForwardHelper.start(settings)),
    ]);
    return new ForwardThreads(together, own, helpers);
  }

  /** How many forwards may run at a time. */
  get count(): number {
    return 1 + this.#helpers.length;
  }

  /** One call after the other. @param tasks none of which needs another */
  run(tasks: readonly ForwardTask[], known: Known): Promise<Results> {
    const results = this.#last.then(() => this.#run(tasks, known));
    // its caller is told; what it was told is not held
    this.#last = results.then(
      () => {},
      () => {},
    );
    return results;
  }

  async #run(tasks: readonly ForwardTask[], known: Known): Promise<Results> {
    const { alone, sideBySide } = shareOut(tasks);
    const { given, kept, needed } = giveAway(sideBySide, known);
    const round = { tasks: given, next: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT) };
    const helpers = this.#helpers.slice(0, kept.length > 0 ? given.length : Math.max(0, given.length - 1));
    const answers = helpers.map((helper) => helper.run({ ...round, known: copiesOf(needed, known) }));
    const results = new Map<ForwardTask, ForwardResult>();
    const own = async () => {
      for (const task of kept) results.set(task, await this.#own.run(task, known));
      return runTaken(this.#own, { ...round, known });
    };
    for (const part of await Promise.allSettled([own(), ...answers])) {
      if (part.status === "rejected") throw part.reason;
      for (const [number, result] of part.value) {
        const task = given[number];
        if (task) results.set(task, result);
      }
    }
    for (const task of alone) results.set(task, await this.#together.run(task, known));
    return results;
  }
}

/** What helpers may do, and of which nodes they then need keys and values: no more than they may be given. The caller keeps the others. */
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
