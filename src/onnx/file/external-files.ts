import { Field, Root, Type } from "protobufjs";

/** The parts of the ONNX schema that may contain tensors. Everything else is skipped. */
const SCHEMA: Readonly<Record<string, Readonly<Record<string, readonly [id: number, type: string]>>>> = {
  ModelProto: { graph: [7, "GraphProto"], functions: [25, "FunctionProto"] },
  FunctionProto: { node: [7, "NodeProto"] },
  GraphProto: {
    node: [1, "NodeProto"],
    initializer: [5, "TensorProto"],
    sparseInitializer: [15, "SparseTensorProto"],
  },
  SparseTensorProto: { values: [1, "TensorProto"], indices: [2, "TensorProto"] },
  NodeProto: { attribute: [5, "AttributeProto"] },
  AttributeProto: {
    t: [5, "TensorProto"],
    g: [6, "GraphProto"],
    tensors: [10, "TensorProto"],
    graphs: [11, "GraphProto"],
    sparseTensor: [22, "SparseTensorProto"],
    sparseTensors: [23, "SparseTensorProto"],
  },
  TensorProto: { externalData: [13, "StringStringEntryProto"] },
  StringStringEntryProto: {},
};

const root = new Root();
for (const [name, fields] of Object.entries(SCHEMA)) {
  const type = new Type(name);
  // repeated everywhere: if a broken file has a field twice, both count
  for (const [field, [id, of]] of Object.entries(fields)) type.add(new Field(field, id, of, "repeated"));
  root.add(type);
}
root
  .lookupType("StringStringEntryProto")
  .add(new Field("key", 1, "string"))
  .add(new Field("value", 2, "string"));
const modelProto = root.lookupType("ModelProto");

/**
 * Names of the files that an ONNX file refers to for its constants.
 *
 * @param file bytes of an ONNX file; the tensors in it are not copied
 * @throws RangeError or Error if it is not a protobuf message
 */
export function externalFiles(file: Uint8Array): readonly string[] {
  const found = new Set<string>();
  collect(modelProto.toObject(modelProto.decode(file)), found);
  return [...found];
}

function collect(value: unknown, found: Set<string>): void {
  if (Array.isArray(value)) for (const one of value) collect(one, found);
  else if (typeof value === "object" && value !== null) {
    if ("key" in value && "value" in value && value.key === "location") found.add(String(value.value));
    for (const one of Object.values(value)) collect(one, found);
  }
}
