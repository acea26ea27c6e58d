import { type Node, pathLength } from "../../inference/nodes.ts";
import type { Gemma3Shape, LayerKind } from "../../onnx/causal/gemma3-io.ts";
import { tokenCount } from "./forward.ts";
import { FILLER } from "./forward-tensors.ts";

/**
 * Inputs of a causal graph differ from those of the encoder. Its heads are larger, and MLAS splits sums depending on the
 * widths of a product:
 *
 *   - Sums over keys are split every 128 keys if a head has 64 numbers or more, and less often for smaller heads. So nodes
 *     that share a forward's rest stay within one such span. Leading keys that no query of a chunk sees would add exact
 *     zeros. They are skipped in whole spans of `keyStride`.
 *   - Sums over a head's numbers are computed differently with 64 keys or fewer. So a block always has more: keys of zeros
 *     that no query sees follow those encoded earlier.
 *   - A product that several threads share is split in yet another way. So the queries of all heads are split into at least
 *     as many parts as there are threads, each a product of its own.
 */
export const FEWEST_KEYS = 65;

/** Number of keys per partial sum of MLAS in a product with this many columns. */
export function keyStride(columns: number): number {
  let stride = 128;
  for (let width = 128; width > 16 && width / 2 >= columns; width /= 2) stride *= 2;
  return stride;
}

/** How the queries of all heads are split. */
export interface ThreadParts {
  /** Parts for each head of keys. */
  readonly parts: number;
  /** The number of queries is a multiple of this, and at least twice as large, so that no part has a single row. */
  readonly multiple: number;
}

/** Enough parts that no two threads share a product. */
export function threadParts(
  { heads, kvHeads }: Pick<Gemma3Shape, "heads" | "kvHeads">,
  threads: number,
): ThreadParts {
  const group = heads / kvHeads;
  let parts = Math.ceil(threads / kvHeads);
  if (parts > group) {
    const multiple = Math.ceil(parts / group);
    return { parts: group * multiple, multiple };
  }
  while (group % parts !== 0) parts += 1;
  return { parts, multiple: 1 };
}

/** The graph's inputs that describe a block of keys. */
export interface Keys {
  /** Keys of zeros behind those encoded earlier. */
  readonly padding: number;
  readonly nodes: Int32Array; // [keys]
  readonly positions: Int32Array; // [keys]
}

/** @param fillers padding tokens after the new ones */
export function keysOf(
  past: readonly Node[],
  fresh: readonly Node[],
  fillers: number,
  numbers: ReadonlyMap<Node, number>,
): Keys {
  const padding = Math.max(0, FEWEST_KEYS - tokenCount([...past, ...fresh]) - fillers);
  const keys = tokenCount([...past, ...fresh]) + padding + fillers;
  const nodes = new Int32Array(keys).fill(FILLER);
  const positions = new Int32Array(keys);
  const put = (node: Node, at: number) => {
    nodes.fill(numbers.get(node) ?? 0, at, at + node.tokens.length);
    putPositions(node, positions, at);
    return at + node.tokens.length;
  };
  let at = 0;
  for (const node of past) at = put(node, at);
  at += padding;
  for (const node of fresh) at = put(node, at);
  return { padding, nodes, positions };
}

/** Positions of a node's tokens, continuing those of the node above it. */
export function putPositions(node: Node, positions: Int32Array, at: number): void {
  const begin = pathLength(node) - node.tokens.length;
  for (let i = 0; i < node.tokens.length; i++) positions[at + i] = begin + i;
}

/** Keys of the prefix that each chunk of queries needs: those from `from` up to, but not including, `to`. */
export interface NeededKeys {
  readonly from: readonly number[]; // [chunks]
  readonly to: readonly number[]; // [chunks]
}

/**
 * @param prefix    its nodes: one chain whose keys stand at their positions, or several states of one block together
 * @param newPrefix number of their tokens that are encoded in this forward
 * @param positions [new tokens without padding]
 */
export function neededPrefix(
  kind: LayerKind,
  { window, headSize }: Pick<Gemma3Shape, "window" | "headSize">,
  prefix: { readonly nodes: readonly Node[]; readonly keys: number; readonly newTokens: number },
  positions: Int32Array,
  { chunks, chunkSize }: { readonly chunks: number; readonly chunkSize: number },
): NeededKeys {
  const isChain = prefix.nodes.filter((node) => node.level === 0).length <= 1;
  const stride = keyStride(headSize + 1);
  const ends = Array.from({ length: chunks }, (_, chunk) => {
    const rows = positions.subarray(chunk * chunkSize, (chunk + 1) * chunkSize);
    if (!isChain || rows.length === 0) return { from: 0, to: prefix.keys };
    const isInPrefix = (chunk + 1) * chunkSize <= prefix.newTokens;
    const to = isInPrefix ? Math.min(prefix.keys, Math.max(FEWEST_KEYS, Math.max(...rows) + 1)) : prefix.keys;
    const first =
      kind === "full" ? 0 : Math.max(0, Math.min(Math.min(...rows) - window + 1, to - FEWEST_KEYS));
    return { from: first - (first % stride), to };
  });
  return { from: ends.map(({ from }) => from), to: ends.map(({ to }) => to) };
}
