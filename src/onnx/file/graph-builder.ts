import { Writer } from "protobufjs";
import { modelProto, tensorProto } from "./protobuf.ts";

/** Element types by their ONNX codes (TensorProto.DataType). */
export const ELEMENT_TYPE = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  bfloat16: 16,
} as const;
export type ElementType = keyof typeof ELEMENT_TYPE;

/** The name of a value in the graph. */
export type Value = string;
type Attributes = Readonly<Record<string, number | readonly number[] | { float: number } | { text: string }>>;

/** File for large constants, because an ONNX file may not exceed 2 GB. */
export interface WeightsFile {
  /** File name, in the folder of the ONNX file. */
  readonly name: string;
  /** Appends bytes. @returns their offset */
  append(parts: Iterable<Uint8Array>): { readonly offset: number; readonly length: number };
}

/** Elements that are streamed. */
export interface StreamedData {
  readonly byteLength: number;
  readonly parts: Iterable<Uint8Array>;
}

/** Constants of at least this many bytes go to the weights file. Chosen: small ones load faster with the graph. */
export const LARGE_CONSTANT = 4096;

/**
 * Maximum bytes of a constant that is deduplicated. Each constant that a body uses is passed to it at every run, which
 * took 2 % of a small forward.
 */
const SMALL_CONSTANT = 64;

/** Opset 20: the first with Gelu. IR version 9 belongs to it. */
const OPSET = 20;
const IR_VERSION = 9;
/**
 * Operators specific to ONNX Runtime.
 * @see https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
 */
const CONTRIB = { domain: "com.microsoft", version: 1 };

/** Collects nodes and constants, then writes them as an ONNX file. */
export class GraphBuilder {
  #nodes: object[] = [];
  readonly #initializers: Uint8Array[] = [];
  readonly #inputs: object[] = [];
  readonly #outputs: object[] = [];
  readonly #weightsFile: WeightsFile | undefined;
  readonly #small = new Map<string, Value>();
  #count = 0;

  /** @param weightsFile receives large constants; without it all constants are in the ONNX file */
  constructor(weightsFile?: WeightsFile) {
    this.#weightsFile = weightsFile;
  }

  input(name: string, type: ElementType, shape: readonly (number | string)[]): Value {
    this.#inputs.push(valueInfo(name, type, shape));
    return name;
  }

  /** Declares a value as an output of the graph. */
  output(value: Value, type: ElementType, shape: readonly (number | string)[]): void {
    this.#outputs.push(valueInfo(value, type, shape));
  }

  /** A constant. `data` has its elements, little endian, row-major. Equal small constants are shared. */
  constant(type: ElementType, shape: readonly number[], data: ArrayBufferView | StreamedData): Value {
    if ("parts" in data || data.byteLength > SMALL_CONSTANT) return this.#constant(type, shape, data);
    const key = `${type} [${shape}] ${Buffer.from(bytesOf(data)).toString("hex")}`;
    const name = this.#small.get(key) ?? this.#constant(type, shape, data);
    this.#small.set(key, name);
    return name;
  }

  #constant(type: ElementType, shape: readonly number[], data: ArrayBufferView | StreamedData): Value {
    const name = `constant_${this.#count++}`;
    const tensor = { name, dataType: ELEMENT_TYPE[type], dims: shape };
    const isStreamed = "parts" in data;
    if (this.#weightsFile && data.byteLength >= LARGE_CONSTANT) {
      const parts = isStreamed ? data.parts : [bytesOf(data)];
      const place = { location: this.#weightsFile.name, ...this.#weightsFile.append(parts) };
      const externalData = Object.entries(place).map(([key, value]) => ({ key, value: String(value) }));
      const header = tensorProto.encode({ ...tensor, externalData, dataLocation: 1 }).finish();
      this.#initializers.push(...initializer(header));
    } else {
      const bytes = isStreamed ? Buffer.concat([...data.parts]) : bytesOf(data);
      this.#initializers.push(...initializer(tensorProto.encode(tensor).finish(), bytes));
    }
    return name;
  }

  floats(shape: readonly number[], ...values: number[]): Value {
    return this.constant("float32", shape, Float32Array.from(values));
  }

  /** A one-dimensional int64 constant: shapes, axes, sizes. */
  integers(...values: number[]): Value {
    return this.constant("int64", [values.length], BigInt64Array.from(values, BigInt));
  }

  /** One operator with one result, called `name`. Numbers become int attributes, `{ float }` and `{ text }` others. */
  node(
    opType: string,
    input: readonly Value[],
    attributes: Attributes = {},
    name = `${opType}_${this.#count++}`,
  ): Value {
    this.#nodes.push({ opType, input, output: [name], name, attribute: attributeList(attributes) });
    return name;
  }

  /** One operator specific to ONNX Runtime, with one result. An input "" is omitted. */
  contrib(opType: string, input: readonly Value[], attributes: Attributes = {}): Value {
    const name = this.node(opType, input, attributes);
    Object.assign(this.#nodes.at(-1) ?? {}, { domain: CONTRIB.domain });
    return name;
  }

  /**
   * Runs `body` for 0, 1, .. `count` - 1 and stacks the results along a new first dimension. The body may use every
   * value of the graph.
   *
   * @param count int64 scalar
   * @param body  gets the iteration number, an int64 scalar
   */
  loop(count: Value, type: ElementType, body: (round: Value) => Value): Value {
    const name = `Loop_${this.#count++}`;
    const [round, goesOn] = [`${name}_round`, `${name}_goes_on`];
    const always = this.constant("bool", [], Uint8Array.of(1));
    let stays = "";
    const { nodes, result } = this.#collect(() => {
      stays = this.node("Identity", [goesOn]);
      return body(round);
    });
    const graph = {
      name,
      node: nodes,
      input: [valueInfo(round, "int64", []), valueInfo(goesOn, "bool", [])],
      output: [valueInfo(stays, "bool", []), valueInfo(result, type)],
    };
    this.#nodes.push({
      opType: "Loop",
      input: [count, always],
      output: [name],
      name,
      attribute: [graphAttribute("body", graph)],
    });
    return name;
  }

  /** The result of one of two bodies, which may use every value of the graph. @param condition bool scalar */
  either(condition: Value, type: ElementType, then: () => Value, otherwise: () => Value): Value {
    const name = `If_${this.#count++}`;
    this.eitherAll(
      condition,
      type,
      [name],
      () => [then()],
      () => [otherwise()],
    );
    return name;
  }

  /** The same for bodies of any number of results. @returns `output`, the names of the results */
  eitherAll<Names extends readonly Value[]>(
    condition: Value,
    type: ElementType,
    output: Names,
    then: () => readonly Value[],
    otherwise: () => readonly Value[],
  ): Names {
    const name = `If_${this.#count++}`;
    const branch = (attribute: string, body: () => readonly Value[]) => {
      const { nodes, result } = this.#collect(body);
      return graphAttribute(attribute, {
        name: `${name}_${attribute}`,
        node: nodes,
        output: result.map((value) => valueInfo(value, type)),
      });
    };
    const attribute = [branch("then_branch", then), branch("else_branch", otherwise)];
    this.#nodes.push({ opType: "If", input: [condition], output, name, attribute });
    return output;
  }

  /** The nodes that `body` adds, as a subgraph. */
  #collect<T>(body: () => T): { nodes: object[]; result: T } {
    const outer = this.#nodes;
    this.#nodes = [];
    const result = body();
    const nodes = this.#nodes;
    this.#nodes = outer;
    return { nodes, result };
  }

  /**
   * Splits `value` along `axis` into two parts with the sizes of the int64 tensor `sizes`.
   * @returns `names`, if given
   */
  splitInTwo(
    value: Value,
    sizes: Value,
    axis: number,
    names?: readonly [Value, Value],
  ): readonly [Value, Value] {
    const name = `Split_${this.#count++}`;
    return this.#split(name, value, sizes, axis, names ?? ([`${name}_0`, `${name}_1`] as const));
  }

  /** The same into three parts. */
  splitInThree(value: Value, sizes: Value, axis: number): readonly [Value, Value, Value] {
    const name = `Split_${this.#count++}`;
    return this.#split(name, value, sizes, axis, [`${name}_0`, `${name}_1`, `${name}_2`] as const);
  }

  #split<Names extends readonly Value[]>(
    name: string,
    value: Value,
    sizes: Value,
    axis: number,
    output: Names,
  ): Names {
    const attribute = attributeList({ axis });
    this.#nodes.push({ opType: "Split", input: [value, sizes], output, name, attribute });
    return output;
  }

  /** @returns the bytes of an ONNX file */
  build(name: string): Uint8Array {
    const model = modelProto.encode({
      irVersion: IR_VERSION,
      producerName: "typed-decisions",
      opsetImport: [{ domain: "", version: OPSET }, CONTRIB],
      graph: { name, node: this.#nodes, input: this.#inputs, output: this.#outputs },
    });
    return Buffer.concat([model.finish(), ...this.#initializers]);
  }
}

/**
 * Field numbers with wire type 2 (length-delimited): ModelProto.graph, GraphProto.initializer, TensorProto.raw_data.
 */
const TAG = { graph: (7 << 3) | 2, initializer: (5 << 3) | 2, rawData: (9 << 3) | 2 };

/**
 * A tensor as bytes to append to the model. Protobuf merges a repeated `graph` field into the first one. So weights are
 * copied once, not once per enclosing message.
 * @see https://protobuf.dev/programming-guides/encoding/#last-one-wins
 */
function initializer(header: Uint8Array, data?: Uint8Array): Uint8Array[] {
  const delimiter = (tag: number, length: number) => new Writer().uint32(tag).uint32(length).finish();
  const content = data ? [header, delimiter(TAG.rawData, data.length), data] : [header];
  const tensorLength = content.reduce((sum, { length }) => sum + length, 0);
  const tensor = delimiter(TAG.initializer, tensorLength);
  return [delimiter(TAG.graph, tensor.length + tensorLength), tensor, ...content];
}

const bytesOf = (data: ArrayBufferView) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** AttributeProto.AttributeType: FLOAT 1, INT 2, STRING 3, INTS 7. */
function attributeList(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([name, value]) => {
    if (typeof value === "number") return { name, type: 2, i: value };
    if ("text" in value) return { name, type: 3, s: Buffer.from(value.text) };
    return "float" in value ? { name, type: 1, f: value.float } : { name, type: 7, ints: value };
  });
}

/** AttributeProto.AttributeType: GRAPH 5. */
const graphAttribute = (name: string, graph: object) => ({ name, type: 5, g: graph });

/** @param shape undefined if unknown */
function valueInfo(name: string, type: ElementType, shape?: readonly (number | string)[]): object {
  if (!shape) return { name, type: { tensorType: { elemType: ELEMENT_TYPE[type] } } };
  const dim = shape.map((size) => (typeof size === "number" ? { dimValue: size } : { dimParam: size }));
  return { name, type: { tensorType: { elemType: ELEMENT_TYPE[type], shape: { dim } } } };
}
