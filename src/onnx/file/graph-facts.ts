import { messages } from "./protobuf.ts";

/** Declared input or output of a graph. */
export interface GraphValue {
  readonly name: string;
  /** ONNX's number of the element type; 0 if it is no tensor. @see TensorProto.DataType in onnx.proto */
  readonly elementType: number;
  /** Fixed sizes, and names of free ones; undefined if the rank is not declared. */
  readonly shape: readonly (number | string)[] | undefined;
}

export interface Constant {
  readonly elementType: number;
  readonly elements: number;
}

/** What an ONNX file says of itself. */
export interface GraphFacts {
  /** Without constants, which old files list as inputs, too. */
  readonly inputs: readonly GraphValue[];
  readonly outputs: readonly GraphValue[];
  /** Domains of all operators; the standard one is "". */
  readonly domains: readonly string[];
  /** Names of the files that hold constants, as written in the graph. */
  readonly externalFiles: readonly string[];
  /** All constants: ONNX's number of the element type, and the number of elements. */
  readonly constants: readonly Constant[];
  /** Whether an operator has a graph of its own, as If and Loop do. */
  readonly hasSubgraphs: boolean;
}

/** The parts of the ONNX schema that are read. Everything else is skipped, above all the constants' bytes. */
const SCHEMA: Readonly<Record<string, Readonly<Record<string, readonly [id: number, type: string]>>>> = {
  ModelProto: { graph: [7, "GraphProto"], functions: [25, "FunctionProto"] },
  FunctionProto: { node: [7, "NodeProto"] },
  GraphProto: {
    node: [1, "NodeProto"],
    initializer: [5, "TensorProto"],
    input: [11, "ValueInfoProto"],
    output: [12, "ValueInfoProto"],
    sparseInitializer: [15, "SparseTensorProto"],
  },
  SparseTensorProto: { values: [1, "TensorProto"], indices: [2, "TensorProto"] },
  NodeProto: { attribute: [5, "AttributeProto"], domain: [7, "string"] },
  AttributeProto: {
    t: [5, "TensorProto"],
    g: [6, "GraphProto"],
    tensors: [10, "TensorProto"],
    graphs: [11, "GraphProto"],
    sparseTensor: [22, "SparseTensorProto"],
    sparseTensors: [23, "SparseTensorProto"],
  },
  TensorProto: {
    dims: [1, "uint32"],
    dataType: [2, "int32"],
    name: [8, "string"],
    externalData: [13, "StringStringEntryProto"],
  },
  StringStringEntryProto: { key: [1, "string"], value: [2, "string"] },
  ValueInfoProto: { name: [1, "string"], type: [2, "TypeProto"] },
  TypeProto: { tensorType: [1, "TensorTypeProto"] },
  TensorTypeProto: { elemType: [1, "int32"], shape: [2, "TensorShapeProto"] },
  TensorShapeProto: { dim: [1, "Dimension"] },
  Dimension: { dimValue: [1, "uint32"], dimParam: [2, "string"] },
};

// repeated everywhere: if a broken file has a field twice, both count
const repeated = Object.entries(SCHEMA).map(([name, fields]) => {
  const all = Object.entries(fields).map(([field, [id, type]]) => [field, [id, type, "repeated"] as const]);
  return [name, Object.fromEntries(all)];
});
const modelProto = messages(Object.fromEntries(repeated)).lookupType("ModelProto");

/**
 * Reads what an ONNX file says of its inputs, outputs, operators and external data. Nothing of it is run.
 *
 * @param file bytes of an ONNX file; the tensors in it are not copied
 * @throws RangeError or Error if it is not a protobuf message
 */
export function readGraphFacts(file: Uint8Array): GraphFacts {
  const model: unknown = modelProto.toObject(modelProto.decode(file));
  const graphs = listIn(model, "graph");
  const constantNames = new Set(graphs.flatMap((graph) => listIn(graph, "initializer")).flatMap(namesOf));
  const found = {
    domains: new Set<string>(),
    externalFiles: new Set<string>(),
    constants: [] as Constant[],
    hasSubgraphs: false,
  };
  collect(model, found);
  return {
    inputs: graphs
      .flatMap((graph) => listIn(graph, "input"))
      .map(graphValue)
      .filter(({ name }) => !constantNames.has(name)),
    outputs: graphs.flatMap((graph) => listIn(graph, "output")).map(graphValue),
    domains: [...found.domains].sort(),
    externalFiles: [...found.externalFiles],
    constants: found.constants,
    hasSubgraphs: found.hasSubgraphs,
  };
}

interface Collected {
  readonly domains: Set<string>;
  readonly externalFiles: Set<string>;
  readonly constants: Constant[];
  hasSubgraphs: boolean;
}

function collect(value: unknown, found: Collected): void {
  if (Array.isArray(value)) for (const one of value) collect(one, found);
  else if (typeof value === "object" && value !== null) {
    for (const domain of listIn(value, "domain")) found.domains.add(String(domain));
    if (listIn(value, "g").length > 0 || listIn(value, "graphs").length > 0) found.hasSubgraphs = true;
    const elements = listIn(value, "dims").reduce<number>((count, size) => count * Number(size), 1);
    for (const type of listIn(value, "dataType"))
      found.constants.push({ elementType: Number(type), elements });
    if (listIn(value, "key").includes("location"))
      for (const name of listIn(value, "value")) found.externalFiles.add(String(name));
    for (const one of Object.values(value)) collect(one, found);
  }
}

function graphValue(info: unknown): GraphValue {
  const [name = ""] = namesOf(info);
  const [tensor] = listIn(listIn(info, "type")[0], "tensorType");
  const [shape] = listIn(tensor, "shape");
  return {
    name,
    elementType: Number(listIn(tensor, "elemType")[0] ?? 0),
    shape: shape === undefined ? undefined : listIn(shape, "dim").map(sizeOf),
  };
}

function sizeOf(dimension: unknown): number | string {
  const [size] = listIn(dimension, "dimValue");
  return size === undefined ? String(listIn(dimension, "dimParam")[0] ?? "?") : Number(size);
}

const namesOf = (value: unknown) => listIn(value, "name").map(String);

function listIn(value: unknown, name: string): readonly unknown[] {
  const list: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  return Array.isArray(list) ? list : [];
}
