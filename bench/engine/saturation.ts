import { type Measurement, measurement } from "../measure/measurement.ts";
import { interleave } from "../measure/rounds.ts";
import { MIXED } from "../workloads/traffic.ts";
import { type Arithmetic, arithmeticOf, sumOf } from "./arithmetic.ts";
import type { Precision } from "./process/gemm.ts";
import { idealMs, type Roof } from "./roof.ts";
import { enoughFor, runSlice, type Slice, Supply } from "./slice.ts";
import type { EngineRun, Subject } from "./subject.ts";

/** Requests that wait while the engine is saturated. Chosen: their tokens fill several batches. */
const WAITING = 16;

/** The arithmetic of the served requests of a slice. */
export async function arithmeticOfSlice(subject: Subject, { served }: Slice): Promise<Arithmetic> {
  const parts: Arithmetic[] = [];
  for (const prepared of served) {
    for (const tree of await subject.forestOf(prepared)) parts.push(arithmeticOf(tree, subject.shape));
  }
  return sumOf(parts);
}

export function asPrecision(name: string): Precision {
  return name === "int8" ? "int8" : "fp32";
}

/** Share of the roof reached by mixed traffic while more requests wait than fit into a batch. */
export async function saturation(run: EngineRun, roof: Roof): Promise<readonly Measurement[]> {
  const { subject, effort, seed, signal } = run;
  const precision = asPrecision(subject.precision);
  const supply = new Supply(MIXED, seed + 1, subject);
  const limits = { callers: WAITING, budgetMs: 2 * effort.sliceMs, signal };
  let perRequestMs = 20;
  const measureRate = async (which: Precision) => {
    const { inputs, outputs, rows } = roof.best[which];
    const shape = { inputs, outputs };
    const budgetMs = effort.roofPointMs * 2;
    return (await subject.kernels.run("measureGemm", { shape, precision: which, rows, budgetMs })).rate;
  };
  const slices: Arithmetic[] = [];
  const { took, fp32, int8 } = await interleave(
    {
      fp32: () => measureRate("fp32"),
      took: async () => {
        const count = enoughFor(limits.budgetMs, perRequestMs, WAITING, effort.maxRequests);
        const slice = await runSlice(subject.engine, await supply.take(count), limits);
        perRequestMs = slice.elapsedMs / slice.served.length;
        slices.push(await arithmeticOfSlice(subject, slice));
        return slice.elapsedMs;
      },
      int8: () => (precision === "int8" ? measureRate("int8") : Promise.resolve(roof.best.int8.rate)),
    },
    { rounds: effort.rounds, budgetMs: effort.figureMs, signal },
  );
  const shares = slices.map((arithmetic, i) => {
    const rates = { fp32: fp32[i] ?? Number.NaN, int8: int8[i] ?? Number.NaN };
    return (100 * idealMs(arithmetic, precision, rates)) / (took[i] ?? Number.NaN);
  });
  const rates = slices.map(
    ({ linear, attention }, i) => (linear + attention) / (took[i] ?? Number.NaN) / 1e6,
  );
  const name = "engine.share-of-roof";
  return [
    measurement(
      {
        name,
        title: `mixed traffic, ${WAITING} waiting requests: useful arithmetic as a share of the measured GEMM rate`,
        unit: "%",
        better: "higher",
        target: 60,
      },
      shares,
    ),
    measurement(
      { name: `${name}.rate`, title: "multiply-adds of the engine", unit: "GOP/s", better: "higher" },
      rates,
    ),
  ];
}
