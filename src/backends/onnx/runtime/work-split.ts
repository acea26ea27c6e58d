import { GraphBuilder } from "../../../onnx/file/graph-builder.ts";
import { InferenceSession, Tensor } from "./runtime.ts";
import { sessionOptions } from "./session-options.ts";

/** Of each product: few rows are shared out by columns, more rows than columns by rows, if there is anything to share out. */
const FEW_ROWS = 28;
const COLUMNS = 32;
const MORE_ROWS = 40;
/** Enough that the runtime thinks a product worth being shared out, and that its sums are cut somewhere. */
const INPUTS = 1280;

/**
 * Into how many pieces the runtime may cut a run's products for each of its threads. On processors with two kinds of cores it is four,
 * so that the slower ones do not hold the others up. Tried with two threads: it is the same for any number.
 *
 * @see ThreadPool::DegreeOfParallelism, onnxruntime/core/common/threadpool.cc
 */
export async function piecesPerThread(threads: number): Promise<number> {
  return threads === 1 || (await addsUpAlike(2, 2)) ? 1 : 4;
}

/**
 * Whether rows of a product get the same bits beside few rows and beside many. A product that is not cut does; the sums of one that is
 * cut by columns are added up in another order than those of one that is cut by rows.
 *
 * @param products of one run
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
    throw new Error("a product gave no numbers");
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

/** Between -1 and 1, of many different last bits. */
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
