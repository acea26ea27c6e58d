import { invalidModel, messageOf } from "../../../errors.ts";
import type { PairGraph } from "../../../models/architectures/architecture.ts";
import { float16ToFloat32 } from "../../../onnx/file/float16.ts";
import { InferenceSession, Tensor } from "../runtime/runtime.ts";
import { type Place, sessionOptions } from "../runtime/session-options.ts";

/** A graph that knows no trees, loaded into the runtime. Its file has been checked: see `graphFault`. */
export class PairSession {
  readonly #session: InferenceSession;
  readonly #graph: PairGraph;
  readonly #inputs: readonly { readonly name: string; readonly isInt32: boolean }[];

  private constructor(session: InferenceSession, graph: PairGraph) {
    this.#session = session;
    this.#graph = graph;
    this.#inputs = session.inputMetadata.map((input) => ({
      name: input.name,
      isInt32: input.isTensor && input.type === "int32",
    }));
  }

  /** @throws ServiceError INVALID_MODEL for a graph that the runtime rejects */
  static async load(graph: PairGraph, threads: number, place?: Place): Promise<PairSession> {
    return new PairSession(await open(graph.graph, sessionOptions(threads, place)), graph);
  }

  /** @returns the logits of one pair */
  async run(ids: Int32Array): Promise<Float32Array> {
    const { maxTokens, output, readings } = this.#graph;
    if (ids.length > maxTokens)
      throw new Error(`a pair has ${ids.length} tokens, but the graph accepts ${maxTokens}`);
    const feeds = this.#inputs.map(({ name, isInt32 }): [string, Tensor] => {
      const numbers = this.#numbersOf(name, ids);
      const data = isInt32 ? numbers : BigInt64Array.from(numbers, BigInt);
      return [name, new Tensor(isInt32 ? "int32" : "int64", data, [1, ids.length])];
    });
    const results = await this.#session.run(Object.fromEntries(feeds), [output]);
    const logits = floatsOf(results[output]);
    for (const value of Object.values(results)) value.dispose();
    const last = Math.max(...readings.map((reading) => reading ?? 0));
    if (logits.length <= last)
      throw new Error(
        `the output ${output} has ${logits.length} numbers for a pair, expected more than ${last}`,
      );
    return logits;
  }

  #numbersOf(input: string, ids: Int32Array): Int32Array {
    if (input === "input_ids") return ids;
    if (input === "attention_mask") return new Int32Array(ids.length).fill(1);
    const { separatorId } = this.#graph;
    const end = separatorId === undefined ? -1 : ids.indexOf(separatorId);
    return end === -1 ? new Int32Array(ids.length) : new Int32Array(ids.length).fill(1, end + 1);
  }
}

/** The numbers of an output. Some versions of Node.js have an array type for float16, others give its bits. */
function floatsOf(output: Tensor | undefined): Float32Array {
  const data = output?.data;
  if (data instanceof Float32Array) return data;
  if (ArrayBuffer.isView(data) && output?.type === "float16")
    return float16ToFloat32(new Uint16Array(data.buffer, data.byteOffset, data.byteLength / 2));
  throw new Error("the output must hold float32 or float16 numbers");
}

async function open(
  graph: Uint8Array | string,
  options: InferenceSession.SessionOptions,
): Promise<InferenceSession> {
  try {
    return typeof graph === "string"
      ? await InferenceSession.create(graph, options)
      : await InferenceSession.create(graph, options);
  } catch (cause) {
    throw invalid(`is rejected by ONNX Runtime: ${messageOf(cause)}`, cause);
  }
}

export const invalid = (what: string, cause?: unknown) => invalidModel(`model.onnx ${what}.`, cause);
