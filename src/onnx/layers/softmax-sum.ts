import type { GraphBuilder, Value } from "../file/graph-builder.ts";

/** [heads, queries, keys] -> [heads, queries, 1] */
export function largest(graph: GraphBuilder, products: Value): Value {
  return graph.node("ReduceMax", [products, graph.integers(2)], { keepdims: 1 });
}

/** Keys of which the one that weighs most is taken. Chosen: tokens at the begin of a text are seen by most queries. */
const FIRST_KEYS = 16;
/** A smaller weight tells nothing: it may have been rounded to 0 on the way. */
const SMALLEST_WEIGHT = 1e-30;

/**
 * Product and weight of one key for each query, which tell the sum that softmax has divided by. Any key would do, and to look for
 * the largest takes as long as softmax, so it is one of the first; only for a query that hardly sees these, it is
 * the largest of all. Which it is is a matter of the query and the prefix alone.
 *
 * No logarithm of it is taken: the runtime's `Log` computes the last numbers of a tensor otherwise than the others.
 *
 * @param products [heads, queries, keys]
 * @param weights  [heads, queries, keys] softmax of the products
 * @returns        [heads, queries, 1] each
 */
export function anyKeyOf(
  graph: GraphBuilder,
  products: Value,
  weights: Value,
): { readonly product: Value; readonly weight: Value } {
  const first = (all: Value) =>
    largest(
      graph,
      graph.node("Slice", [all, graph.integers(0), graph.integers(FIRST_KEYS), graph.integers(2)]),
    );
  const [ofFirst, weightOfFirst] = [first(products), first(weights)];
  const smallest = graph.floats([], SMALLEST_WEIGHT);
  const least = graph.node("ReduceMin", [weightOfFirst], { keepdims: 0 });
  const [product, weight] = graph.eitherTwo(
    graph.node("Less", [least, smallest]),
    "float32",
    () => {
      const isTooSmall = graph.node("Less", [weightOfFirst, smallest]);
      const orLargest = (value: Value, all: Value) =>
        graph.node("Where", [isTooSmall, largest(graph, all), value]);
      return [orLargest(ofFirst, products), orLargest(weightOfFirst, weights)];
    },
    () => [graph.node("Identity", [ofFirst]), graph.node("Identity", [weightOfFirst])],
  );
  return { product, weight };
}

/** A column of ones behind the values: it sums the weights. [a, b, size] -> [a, b, size + 1] */
export function withOnes(graph: GraphBuilder, values: Value): Value {
  return graph.node("Pad", [values, graph.integers(0, 0, 0, 0, 0, 1), graph.floats([], 1)]);
}
