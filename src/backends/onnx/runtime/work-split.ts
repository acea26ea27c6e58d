import { GraphBuilder } from "../../../onnx/file/graph-builder.ts";
import { InferenceSession, Tensor } from "./runtime.ts";
import { sessionOptions } from "./session-options.ts";

/** Shapes of test products. The runtime splits products with few rows by columns, those with more rows than columns by rows. */
const FEW_ROWS = 28;
const COLUMNS = 32;
const MORE_ROWS = 40;
/** Large enough that the runtime splits both the product and its sums. */
const INPUTS = 1280;

/**
 * Number of pieces per thread into which the runtime may split a product. It is four on processors with two kinds of cores,
 * so that slow cores do not delay fast ones. Tested with two threads; it is the same for any number.
 *
 * @see ThreadPool::DegreeOfParallelism, onnxruntime/core/common/threadpool.cc
 */
export async function piecesPerThread(threads: number): Promise<number> {
  return threads === 1 || (await addsUpAlike(2, 2)) ? 1 : 4;
}

/**
 * Whether a row of a product has the same bits in a product with few and with many rows. This holds if products are not
 * split: splits by columns and by rows sum in different orders.
 *
 * @param products number of products in one run
 */
export async function addsUpAlike(threads: number, products: number): Promise<boolean> {
  const graph = new GraphBuilder();
  const left = graph.input("left", "float32", [products, "rows", INPUTS]);
  const right = graph.input("right", "float32", [products, INPUTS, COLUMNS]);
  const product = graph.node("MatMul", [left, right]);
  graph.output(product, "float32", [products, "rows", COLUMNS]);
  const session = await InferenceSession.create(graph.build("work-split"), sessionOptions(threads));
  const columns = repeated(numbers(INPUTS * COLUMNS), products);
  const rows = numbers(MORE_ROWS * INPUTS);
  const multiply = async (count: number): Promise<Float32Array> => {
    const ofEach = repeated(rows.subarray(0, count * INPUTS), products);
    const results = await session.run({
      left: new Tensor("float32", ofEach, [products, count, INPUTS]),
      right: new Tensor("float32", columns, [products, INPUTS, COLUMNS]),
    });
    const data = results[product]?.data;
    if (data instanceof Float32Array) return data;
    throw new Error("a matrix product returned no numbers");
  };
  try {
    const [few, more] = [await multiply(FEW_ROWS), await multiply(MORE_ROWS)];
    return few.every((value, at) => {
      const [ofProduct, rest] = [Math.floor(at / (FEW_ROWS * COLUMNS)), at % (FEW_ROWS * COLUMNS)];
      return Object.is(value, more[ofProduct * MORE_ROWS * COLUMNS + rest]);
    });
  } finally {
    await session.release();
  }
}

/** Pseudorandom numbers between -1 and 1 that fill all bits of the mantissa. */
function numbers(count: number): Float32Array {
  const made = new Float32Array(count);
  let state = 1;
  for (let at = 0; at < count; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0; // Numerical Recipes' generator
    made[at] = state / 2 ** 31;
  }
  return made;
}

function repeated(values: Float32Array, times: number): Float32Array {
  const all = new Float32Array(values.length * times);
  for (let at = 0; at < times; at++) all.set(values, at * values.length);
  return all;
}
