import type { GraphBuilder, Value } from "../file/graph-builder.ts";

/** [heads, queries, keys] -> [heads, queries, 1] */
export function largest(graph: GraphBuilder, products: Value): Value {
  return graph.node("ReduceMax", [products, graph.integers(2)], { keepdims: 1 });
}

/** Number of leading keys to choose from. Chosen: most queries give weight to tokens at the beginning of a text. */
const FIRST_KEYS = 16;
/** Minimum usable weight. A smaller one may have been rounded to 0. */
const SMALLEST_WEIGHT = 1e-30;

/**
 * Product and weight of one key per query. Together they give the sum that softmax divided by. Any key works. Finding
 * the largest takes as long as softmax, so one of the first keys is used, and the largest one only for queries that
 * give these almost no weight. The choice depends only on the query and the prefix.
 *
 * No logarithm is used, because the runtime's `Log` computes the last numbers of a tensor differently.
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
  const [product, weight] = graph.eitherAll(
    graph.node("Less", [least, smallest]),
    "float32",
    [`${weightOfFirst}_product`, `${weightOfFirst}_weight`] as const,
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

/** Appends a column of ones to the values, which sums the weights. [a, b, size] -> [a, b, size + 1] */
export function withOnes(graph: GraphBuilder, values: Value): Value {
  return graph.node("Pad", [values, graph.integers(0, 0, 0, 0, 0, 1), graph.floats([], 1)]);
}
