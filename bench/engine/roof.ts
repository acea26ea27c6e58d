import type { TokenTreeShape } from "../../src/onnx/token-tree-io.ts";
import type { Arithmetic } from "./arithmetic.ts";
import type { GemmRate, GemmShape, Precision } from "./process/gemm.ts";
import type { TaskProcess } from "./process/task-process.ts";

/** The machine's measured rates: upper bounds for a model of these shapes. */
export interface Roof {
  readonly rates: readonly GemmRate[];
  /** The largest rate of each precision. */
  readonly best: Readonly<Record<Precision, GemmRate>>;
}

export interface RoofOptions {
  readonly threads: number;
  readonly rows: readonly number[];
  readonly pointMs: number;
  readonly signal: AbortSignal;
}

/** The products of one layer. */
function gemmShapes({ hidden, inner }: TokenTreeShape): readonly GemmShape[] {
  return [
    { inputs: hidden, outputs: hidden },
    { inputs: hidden, outputs: inner },
    { inputs: inner, outputs: hidden },
  ];
}

/** Measures every product of the model for each number of rows, in both precisions. */
export async function measureRoof(
  kernels: TaskProcess,
  shape: TokenTreeShape,
  { threads, rows, pointMs, signal }: RoofOptions,
): Promise<Roof> {
  const shapes = gemmShapes(shape);
  await kernels.run("loadGemm", { shapes, threads });
  const rates: GemmRate[] = [];
  for (const count of rows) {
    for (const precision of ["fp32", "int8"] as const) {
      for (const gemm of shapes) {
        signal.throwIfAborted();
        rates.push(
          await kernels.run("measureGemm", { shape: gemm, precision, rows: count, budgetMs: pointMs }),
        );
      }
    }
  }
  return { rates, best: { fp32: bestOf(rates, "fp32"), int8: bestOf(rates, "int8") } };
}

function bestOf(rates: readonly GemmRate[], precision: Precision): GemmRate {
  const [first, ...others] = rates.filter((rate) => rate.precision === precision);
  if (!first) throw new Error(`no product was measured in ${precision}`);
  return others.reduce((best, rate) => (rate.rate > best.rate ? rate : best), first);
}

/**
 * Time of the useful arithmetic at the measured rates: linear layers in the engine's precision, attention in fp32. In fp32 the
 * share of the roof is exactly the arithmetic rate divided by the rate of the products.
 *
 * @param rates multiply-adds per second
 * @returns     milliseconds
 */
export function idealMs(
  { linear, attention }: Arithmetic,
  precision: Precision,
  rates: Readonly<Record<Precision, number>>,
): number {
  return 1000 * (linear / rates[precision] + attention / rates.fp32);
}
