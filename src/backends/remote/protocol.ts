import { quoted } from "../../errors.ts";
import { memberOf } from "../../records.ts";
import type { TensorData } from "../tensors/tensor-data.ts";

/** Header with the number of bytes of JSON in a body; the binary tensors follow it. */
export const JSON_LENGTH = "inference-header-content-length";

/** Names of tensor types in the protocol. */
export const DATATYPES = {
  bool: "BOOL",
  int32: "INT32",
  int64: "INT64",
  float32: "FP32",
  uint8: "UINT8",
} as const;

export interface Body {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/**
 * A request for inference.
 *
 * @param isBinary whether tensors are sent as bytes after the JSON (little endian) instead of as numbers in it
 * @see https://github.com/kserve/open-inference-protocol and Triton's extension binary_tensor_data
 */
export function encodeRequest(
  feeds: Readonly<Record<string, TensorData>>,
  outputs: readonly string[],
  isBinary: boolean,
): Body {
  const parts: Uint8Array[] = [];
  const inputs = Object.entries(feeds).map(([name, { type, data, dims }]) => {
    const tensor = { name, shape: dims, datatype: DATATYPES[type] };
    if (!isBinary)
      return {
        ...tensor,
        data: Array.from<number | bigint, number | boolean>(data, (value) =>
          type === "bool" ? value !== 0 : Number(value),
        ),
      };
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    parts.push(bytes);
    return { ...tensor, parameters: { binary_data_size: bytes.length } };
  });
  const wanted = outputs.map((name) => (isBinary ? { name, parameters: { binary_data: true } } : { name }));
  const json = Buffer.from(JSON.stringify({ inputs, outputs: wanted }));
  if (!isBinary) return { headers: { "content-type": "application/json" }, bytes: json };
  return {
    headers: { "content-type": "application/octet-stream", [JSON_LENGTH]: String(json.length) },
    bytes: Buffer.concat([json, ...parts]),
  };
}

/** A tensor of a response. */
export interface OutputTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array | Uint8Array;
}

/**
 * The tensors of a response, by name.
 *
 * @param jsonLength bytes of the JSON at the start of the body. Default: the whole body
 * @throws Error that says what is wrong with the response
 */
export function decodeAnswer(
  body: Buffer,
  jsonLength: number = body.length,
): ReadonlyMap<string, OutputTensor> {
  if (!Number.isSafeInteger(jsonLength) || jsonLength < 0 || jsonLength > body.length)
    throw new Error(`the header ${JSON_LENGTH} does not fit the body of ${body.length} bytes`);
  const answer: unknown = parse(body.subarray(0, jsonLength));
  const outputs = memberOf(answer, "outputs");
  if (!Array.isArray(outputs)) throw new Error("the answer has no outputs");
  const tensors = new Map<string, OutputTensor>();
  let at = jsonLength;
  for (const output of outputs) {
    const name = memberOf(output, "name");
    const shape = memberOf(output, "shape");
    const datatype = memberOf(output, "datatype");
    const isShape = Array.isArray(shape) && shape.every((size) => Number.isSafeInteger(size) && size >= 0);
    if (typeof name !== "string" || !isShape) throw new Error("an output has no name or no shape");
    const count = (shape as number[]).reduce((product, size) => product * size, 1);
    const size = memberOf(memberOf(output, "parameters"), "binary_data_size");
    const data = memberOf(output, "data");
    if (typeof size === "number") {
      if (at + size > body.length) throw new Error(`the output ${quoted(name)} is cut off`);
      tensors.set(name, { shape, data: fromBytes(name, datatype, body.subarray(at, at + size), count) });
      at += size;
    } else tensors.set(name, { shape, data: fromNumbers(name, datatype, data, count) });
  }
  return tensors;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (cause) {
    throw new Error("the answer is not JSON", { cause });
  }
}

function fromBytes(name: string, datatype: unknown, bytes: Buffer, count: number): Float32Array | Uint8Array {
  const width = datatype === "FP32" ? 4 : datatype === "UINT8" ? 1 : 0;
  if (width === 0 || bytes.length !== count * width) throw misfit(name);
  const copy = new Uint8Array(bytes); // aligned
  return width === 4 ? new Float32Array(copy.buffer) : copy;
}

function fromNumbers(
  name: string,
  datatype: unknown,
  data: unknown,
  count: number,
): Float32Array | Uint8Array {
  const values: unknown[] = Array.isArray(data) ? data.flat(Number.POSITIVE_INFINITY) : [];
  if (values.length !== count || !values.every((value) => typeof value === "number")) throw misfit(name);
  if (datatype === "FP32") return Float32Array.from(values as number[]);
  if (datatype === "UINT8") return Uint8Array.from(values as number[]);
  throw misfit(name);
}

const misfit = (name: string) => new Error(`the output ${quoted(name)} does not fit its type and shape`);
