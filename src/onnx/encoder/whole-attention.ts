import type { GraphBuilder, Value } from "../file/graph-builder.ts";
import type { Rows } from "../layers/arithmetic.ts";
import { WHOLE_TREE_IO as IO } from "../token-tree-io.ts";
import {
  type Asked,
  type Block,
  blockOf,
  inChunks,
  joined,
  splitBlock,
  summable,
  summed,
  visibility,
} from "./token-tree-attention.ts";
import type { Chunks, Context } from "./token-tree-context.ts";
import { project } from "./token-tree-projection.ts";

/**
 * Attention where every key is of the same run. A forward is one of:
 *
 *     above                          others
 *     nothing                        short states, questions, candidates
 *     a long state                   questions, candidates
 *     a state and a long question    candidates
 *
 * In the last one, the tokens above have queries of their own: the question attends to its state as to a prefix, or
 * together with it where the state is short. The others attend to all above as to a prefix. So each query sums as in a
 * graph whose runs take keys and values.
 */
export interface WholeTrees {
  readonly hasAbove: Value; // bool []
  readonly hasLongQuestion: Value; // bool []
  readonly hasLongState: Value; // bool []
  readonly above: Value; // int64 [1]: tokens above
  readonly split: Value; // int64 [2]: tokens above, the others
  readonly aboveSplit: Value; // int64 [2]: tokens of a long state, the other ones above
  readonly chunks: Chunks;
  readonly aboveChunks: Chunks;
  readonly mask: Value; // [1, tokens, others]
  readonly aboveMask: Value; // [1, above, those above that are no long state]; without meaning unless there is a long question
}

/** Reads the inputs, once for all layers. */
export function wholeTrees(graph: GraphBuilder): WholeTrees {
  const [state, question, others] = graph.splitInThree(IO.split, graph.integers(1, 1, 1), 0);
  const above = graph.node("Add", [state, question]);
  const split = graph.node("Concat", [above, others], { axis: 0 });
  const aboveSplit = graph.node("Concat", [state, question], { axis: 0 });
  const isSome = (count: Value) =>
    graph.node("Reshape", [graph.node("Greater", [count, graph.integers(0)]), graph.integers()]);
  const hasLongQuestion = isSome(question);
  const own = graph.node("Reshape", [
    graph.node("Slice", [IO.queryNodes, graph.integers(0), graph.integers(1), graph.integers(1)]),
    graph.integers(-1),
  ]);
  const [ownAbove, ownOthers] = graph.splitInTwo(own, split, 0);
  const mask = visibility(graph, IO.queryNodes, ownOthers);
  const aboveMask = () => {
    const [queryNodes] = graph.splitInTwo(IO.queryNodes, split, 0);
    const [, keyNodes] = graph.splitInTwo(ownAbove, aboveSplit, 0);
    return visibility(graph, queryNodes, keyNodes);
  };
  const none = () => graph.node("Identity", [graph.floats([1, 1, 1], 0)]);
  return {
    hasAbove: isSome(above),
    hasLongQuestion,
    hasLongState: isSome(state),
    above,
    split,
    aboveSplit,
    chunks: chunksOf(graph, IO.chunks),
    aboveChunks: chunksOf(graph, IO.aboveChunks),
    mask,
    aboveMask: graph.either(hasLongQuestion, "float32", aboveMask, none),
  };
}

function chunksOf(graph: GraphBuilder, input: Value): Chunks {
  const [count, size] = graph.splitInTwo(input, graph.integers(1, 1), 0);
  return { count: graph.node("Reshape", [count, graph.integers()]), size };
}

/** [tokens, hidden] -> [queries, hidden], before the output projection. Every token is a query unless `isLast`. */
export function wholeAttention(
  context: Context,
  whole: WholeTrees,
  layer: number,
  rows: Rows,
  isLast: boolean,
): Value {
  const { graph, readAt } = context;
  const projected = project(context, layer, rows);
  const kept = (value: Value, axis: number) =>
    isLast ? graph.node("Gather", [value, readAt], { axis }) : value;
  const asked: Asked = {
    queries: kept(projected.queries, 0),
    mask: kept(whole.mask, 1),
    isChunked: !isLast,
  };
  const block = blockOf(graph, projected);
  const overBoth = (some: Asked) => {
    const { prefix, rest } = splitBlock(graph, block, whole.split);
    const others = summable(graph, rest);
    return inChunks(context, whole.chunks, some, (each) => joined(context, each, { prefix, rest: others }));
  };
  const belowLongQuestion = () => {
    const [queriesAbove, queries] = graph.splitInTwo(asked.queries, whole.split, 0);
    const [, mask] = graph.splitInTwo(asked.mask, whole.split, 1);
    const { prefix } = splitBlock(graph, block, whole.split);
    const seenAbove = overAbove(context, whole, queriesAbove, prefix);
    return graph.node("Concat", [seenAbove, overBoth({ ...asked, queries, mask })], { axis: 0 });
  };
  // in the last layer only candidates ask
  const withAbove = () =>
    isLast
      ? overBoth(asked)
      : graph.either(whole.hasLongQuestion, "float32", belowLongQuestion, () => overBoth(asked));
  return graph.either(whole.hasAbove, "float32", withAbove, () => {
    const rest = summable(graph, block);
    return inChunks(context, whole.chunks, asked, (some) => summed(context, some, rest));
  });
}

/** Queries of a state and its long question. @param queries [above, heads, size] @returns [above, hidden] */
function overAbove(context: Context, whole: WholeTrees, queries: Value, above: Block): Value {
  const { graph } = context;
  const { count, size } = whole.aboveChunks;
  // the last chunk is filled up with the first queries, whose results are dropped
  const missing = graph.node("Sub", [
    graph.node("Mul", [graph.node("Reshape", [count, graph.integers(1)]), size]),
    whole.above,
  ]);
  const filled = (value: Value, axis: number) => {
    const first = graph.node("Slice", [value, graph.integers(0), missing, graph.integers(axis)]);
    return graph.node("Concat", [value, first], { axis });
  };
  const asked = { queries: filled(queries, 0), mask: filled(whole.aboveMask, 1), isChunked: true };
  const seen = graph.either(
    whole.hasLongState,
    "float32",
    () => {
      const { prefix, rest } = splitBlock(graph, above, whole.aboveSplit);
      const question = summable(graph, rest);
      return inChunks(context, whole.aboveChunks, asked, (some) =>
        joined(context, some, { prefix, rest: question }),
      );
    },
    () => {
      const rest = summable(graph, above);
      return inChunks(context, whole.aboveChunks, asked, (some) => summed(context, some, rest));
    },
  );
  return graph.node("Slice", [seen, graph.integers(0), whole.above, graph.integers(0)]);
}
