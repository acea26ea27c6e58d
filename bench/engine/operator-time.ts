/** Time of one kind of operator, summed over the layers. */
export interface OperatorTime {
  /** As the runtime names it after its own optimizations. */
  readonly operator: string;
  /** Of the graph's run, 0 to 1. */
  readonly share: number;
  /** Of a scored forest. */
  readonly milliseconds: number;
  /** Calls for a scored forest. */
  readonly calls: number;
}

/** An event of the profiler's file (Chrome's trace format); durations in microseconds. */
interface TraceEvent {
  readonly cat?: string;
  readonly name?: string;
  readonly dur?: number;
  readonly args?: { readonly op_name?: string };
}

/** Sums the kernels' times by operator, the longest first. The first run warms up and is counted like the others. */
export function operatorTimes(trace: readonly TraceEvent[], runs: number): readonly OperatorTime[] {
  const sums = new Map<string, { micros: number; calls: number }>();
  for (const { cat, name = "", dur = 0, args } of trace) {
    if (cat !== "Node" || !name.endsWith("_kernel_time")) continue;
    const operator = args?.op_name ?? name;
    const { micros, calls } = sums.get(operator) ?? { micros: 0, calls: 0 };
    sums.set(operator, { micros: micros + dur, calls: calls + 1 });
  }
  const total = [...sums.values()].reduce((sum, { micros }) => sum + micros, 0);
  return [...sums]
    .map(([operator, { micros, calls }]) => ({
      operator,
      share: micros / total,
      milliseconds: micros / 1000 / runs,
      calls: calls / runs,
    }))
    .sort((a, b) => b.share - a.share);
}
