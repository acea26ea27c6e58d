import type { ElementType, GraphBuilder, Value } from "../file/graph-builder.ts";
import { type Gemma3Shape, GEMMA3_IO as IO, type LayerKind } from "./gemma3-io.ts";

/** Attention mask of a layer for a block of keys: 0, or -inf for masked keys. [1, tokens, keys] */
export interface CausalMasks {
  readonly prefix: Value;
  readonly rest: Value;
}

/** `GraphBuilder.input`, or what stands for it. */
export type DeclareInput = (name: string, type: ElementType, shape: readonly (number | string)[]) => Value;

/**
 * Masks for each query: it sees keys of its own node and the nodes above, up to its own position; in sliding layers
 * only those within the window.
 *
 * @param positions int64 [tokens]
 */
export function causalMasks(
  graph: GraphBuilder,
  shape: Gemma3Shape,
  positions: Value,
  input: DeclareInput,
): Readonly<Record<LayerKind, CausalMasks>> {
  const queryNodes = input(IO.queryNodes, "int32", ["tokens", 3]);
  const ancestors = [0, 1, 2].map((i) =>
    graph.node("Slice", [queryNodes, graph.integers(i), graph.integers(i + 1), graph.integers(1)]),
  );
  const own = graph.node("Unsqueeze", [positions, graph.integers(1)]); // [tokens, 1]
  const hiddenBefore = graph.node("Sub", [own, graph.integers(shape.window)]);
  const inRow = (value: Value) => graph.node("Unsqueeze", [value, graph.integers(0)]);
  const both = (a: Value, b: Value) => graph.node("And", [a, b]);
  const mask = (allowed: Value) => {
    const values = [allowed, graph.floats([1], 0), graph.floats([1], Number.NEGATIVE_INFINITY)];
    return inRow(graph.node("Where", values));
  };
  const ofBlock = (nodes: Value, places: Value) => {
    const keyNodes = inRow(nodes);
    const keyPositions = inRow(places);
    const onPath = ancestors
      .map((ancestor) => graph.node("Equal", [ancestor, keyNodes]))
      .reduce((either, or) => graph.node("Or", [either, or]));
    const past = both(onPath, graph.node("LessOrEqual", [keyPositions, own]));
    const near = () => both(past, graph.node("Greater", [keyPositions, hiddenBefore]));
    return { full: mask(past), sliding: shape.layers.includes("sliding") ? mask(near()) : "" };
  };
  const prefix = ofBlock(
    input(IO.prefixNodes, "int32", ["prefix_keys"]),
    input(IO.prefixPositions, "int64", ["prefix_keys"]),
  );
  const rest = ofBlock(
    input(IO.restNodes, "int32", ["rest_keys"]),
    input(IO.restPositions, "int64", ["rest_keys"]),
  );
  return {
    full: { prefix: prefix.full, rest: rest.full },
    sliding: { prefix: prefix.sliding, rest: rest.sliding },
  };
}
