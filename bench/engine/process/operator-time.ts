import type { TokenTreeShape } from "../../../src/onnx/token-tree-io.ts";

/** Time of one kind of operator in one part of the model, summed over the layers. */
export interface OperatorTime {
  /** Name given by the runtime after its optimizations. */
  readonly operator: string;
  readonly part: LayerPart;
  /** Share of the graph's run, 0 to 1. */
  readonly share: number;
  /** Milliseconds per scored request. */
  readonly milliseconds: number;
  /** Calls per scored request. */
  readonly calls: number;
}

export type LayerPart =
  | "projections"
  | "attention"
  | "attention output, head"
  | "feed-forward"
  | "normalisation"
  | "masks"
  | "embedding, residuals";

/** By element type: [..] sizes. */
type TypedShape = Readonly<Record<string, readonly number[]>>;

/** An event of the profiler's file (Chrome's trace format); times in microseconds. */
export interface TraceEvent {
  readonly cat?: string;
  readonly name?: string;
  /** Start time. */
  readonly ts?: number;
  readonly dur?: number;
  readonly args?: {
    readonly op_name?: string;
    readonly input_type_shape?: readonly TypedShape[];
    readonly output_type_shape?: readonly TypedShape[];
  };
}

/** Sums the kernels' times, longest first, the warm-up run included. */
export function operatorTimes(
  trace: readonly TraceEvent[],
  runs: number,
  shape: TokenTreeShape,
): readonly OperatorTime[] {
  const sums = new Map<string, { operator: string; part: LayerPart; micros: number; calls: number }>();
  const kernels = trace.filter(({ cat, name }) => cat === "Node" && name?.endsWith("_kernel_time"));
  for (const [event, ownMicros] of ownTimes(kernels)) {
    const operator = event.args?.op_name ?? event.name ?? "";
    const part = partOf(event, shape);
    const sum = sums.get(`${operator} ${part}`) ?? { operator, part, micros: 0, calls: 0 };
    sums.set(`${operator} ${part}`, {
      ...sum,
      micros: sum.micros + ownMicros,
      calls: sum.calls + 1,
    });
  }
  const total = [...sums.values()].reduce((sum, { micros }) => sum + micros, 0);
  return [...sums.values()]
    .map(({ operator, part, micros, calls }) => ({
      operator,
      part,
      share: micros / total,
      milliseconds: micros / 1000 / runs,
      calls: calls / runs,
    }))
    .sort((a, b) => b.share - a.share);
}

/** Time of each event without that of nested events. A loop's own time excludes its body. */
function ownTimes(events: readonly TraceEvent[]): ReadonlyMap<TraceEvent, number> {
  const own = new Map<TraceEvent, number>();
  const around: TraceEvent[] = [];
  const [begin, micros] = [({ ts = 0 }: TraceEvent) => ts, ({ dur = 0 }: TraceEvent) => dur];
  // of two events with equal times, the outer one was written last
  for (const event of events.toReversed().sort((a, b) => begin(a) - begin(b) || micros(b) - micros(a))) {
    let outer = around.at(-1);
    while (outer && begin(outer) + micros(outer) <= begin(event)) {
      around.pop();
      outer = around.at(-1);
    }
    if (outer) own.set(outer, (own.get(outer) ?? 0) - micros(event));
    own.set(event, micros(event));
    around.push(event);
  }
  return own;
}

const PRODUCTS = /^(Fused)?(Gemm|MatMul)|QGemm|^DynamicQuantizeMatMul/;

/** The part of the model, inferred from input and output widths, because the runtime's names do not show layers. */
function partOf({ args }: TraceEvent, { hidden, inner, heads }: TokenTreeShape): LayerPart {
  const typed = [...(args?.input_type_shape ?? []), ...(args?.output_type_shape ?? [])].flatMap((entry) =>
    Object.entries(entry),
  );
  const shapes = typed.map(([, sizes]) => sizes);
  const widths = shapes.map((sizes) => sizes.at(-1) ?? 0);
  if (widths.includes(inner)) return "feed-forward";
  if (shapes.some((sizes) => sizes.length === 3 && sizes.includes(heads))) return "attention";
  if (widths.some((width) => width > hidden && width <= 3 * hidden && width >= 2 * hidden))
    return "projections";
  const operator = args?.op_name ?? "";
  if (operator.includes("LayerNormalization")) return "normalisation";
  if (PRODUCTS.test(operator)) return "attention output, head";
  if (typed.some(([type]) => type === "bool" || type === "int32") && operator !== "Gather") return "masks";
  return "embedding, residuals";
}
