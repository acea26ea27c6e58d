import { InferenceSession, Tensor } from "../../../src/backends/onnx/runtime/runtime.ts";
import { sessionOptions } from "../../../src/backends/onnx/runtime/session-options.ts";
import { GraphBuilder } from "../../../src/onnx/file/graph-builder.ts";
import { median } from "../../measure/statistics.ts";

export type Precision = "fp32" | "int8";

/** A product [rows, inputs] x [inputs, outputs] with constant weights. */
export interface GemmShape {
  readonly inputs: number;
  readonly outputs: number;
}

export interface GemmRate extends GemmShape {
  readonly precision: Precision;
  readonly rows: number;
  /** Multiply-adds a second. */
  readonly rate: number;
}

/** Products per run, each with its own weights like the layers of a model. Chosen: the model's six layers. */
const COPIES = 6;

/**
 * The machine's rate for one of the model's products: only the kernel that the engine's graph calls.
 * fp32 is `Gemm`, int8 is `MatMulInteger` of unsigned activations with signed weights (and int32 results).
 */
export class GemmBench {
  readonly #shape: GemmShape;
  readonly #precision: Precision;
  readonly #session: InferenceSession;

  private constructor(shape: GemmShape, precision: Precision, session: InferenceSession) {
    this.#shape = shape;
    this.#precision = precision;
    this.#session = session;
  }

  static async load(shape: GemmShape, precision: Precision, threads: number): Promise<GemmBench> {
    const session = await InferenceSession.create(gemmGraph(shape, precision), sessionOptions(threads));
    return new GemmBench(shape, precision, session);
  }

  /** The median of the runs within the time, after a warm-up run. The median includes disturbances that the engine has too. */
  async measure(rows: number, budgetMs: number): Promise<GemmRate> {
    const feeds = { x: input(this.#precision, rows, this.#shape.inputs) };
    const endAt = performance.now() + budgetMs;
    const took: number[] = [];
    for (let run = 0; run < 2 || performance.now() < endAt; run++) {
      const startedAt = performance.now();
      // all products are computed, but only one is returned, so that copying does not count
      const results = await this.#session.run(feeds, ["y0"]);
      if (run > 0) took.push(performance.now() - startedAt);
      results.y0?.dispose();
    }
    const { inputs, outputs } = this.#shape;
    const rate = (COPIES * rows * inputs * outputs) / (median(took) / 1000);
    return { ...this.#shape, precision: this.#precision, rows, rate };
  }

  async close(): Promise<void> {
    await this.#session.release();
  }
}

function gemmGraph({ inputs, outputs }: GemmShape, precision: Precision): Uint8Array {
  const graph = new GraphBuilder();
  const x = graph.input("x", precision === "fp32" ? "float32" : "uint8", ["rows", inputs]);
  const size = inputs * outputs;
  for (let copy = 0; copy < COPIES; copy++) {
    if (precision === "fp32") {
      const weight = Float32Array.from({ length: size }, (_, i) => (((i * 7 + copy) % 13) - 6) / 64);
      const bias = graph.constant("float32", [outputs], new Float32Array(outputs));
      graph.node(
        "Gemm",
        [x, graph.constant("float32", [outputs, inputs], weight), bias],
        { transB: 1 },
        `y${copy}`,
      );
    } else {
      const weight = Int8Array.from({ length: size }, (_, i) => ((i * 7 + copy) % 127) - 63);
      const zero = graph.constant("uint8", [], Uint8Array.of(128));
      graph.node(
        "MatMulInteger",
        [x, graph.constant("int8", [inputs, outputs], weight), zero],
        {},
        `y${copy}`,
      );
    }
    graph.output(`y${copy}`, precision === "fp32" ? "float32" : "int32", ["rows", outputs]);
  }
  return graph.build("gemm");
}

function input(precision: Precision, rows: number, width: number): Tensor {
  const size = rows * width;
  if (precision === "fp32") {
    return new Tensor(
      "float32",
      Float32Array.from({ length: size }, (_, i) => ((i % 11) - 5) / 8),
      [rows, width],
    );
  }
  return new Tensor(
    "uint8",
    Uint8Array.from({ length: size }, (_, i) => i % 256),
    [rows, width],
  );
}
