import { Field, Type } from "protobufjs";

/**
 * The part of the ONNX protobuf schema that our graphs use.
 *
 * @see https://github.com/onnx/onnx/blob/main/onnx/onnx.proto (field numbers and names)
 */
function message(name: string, fields: Record<string, [id: number, type: string, rule?: "repeated"]>): Type {
  const type = new Type(name);
  for (const [field, [id, fieldType, rule]] of Object.entries(fields)) {
    type.add(new Field(field, id, fieldType, rule));
  }
  return type;
}

const attribute = message("AttributeProto", {
  name: [1, "string"],
  f: [2, "float"],
  i: [3, "int64"],
  s: [4, "bytes"],
  g: [6, "GraphProto"],
  ints: [8, "int64", "repeated"],
  type: [20, "int32"],
});
const node = message("NodeProto", {
  input: [1, "string", "repeated"],
  output: [2, "string", "repeated"],
  name: [3, "string"],
  opType: [4, "string"],
  attribute: [5, "AttributeProto", "repeated"],
  domain: [7, "string"],
});
const entry = message("StringStringEntryProto", { key: [1, "string"], value: [2, "string"] });
/** A constant. The graph builder writes its `raw_data` (field 9), or it is in another file (`dataLocation` 1). */
export const tensorProto = message("TensorProto", {
  dims: [1, "int64", "repeated"],
  dataType: [2, "int32"],
  name: [8, "string"],
  externalData: [13, "StringStringEntryProto", "repeated"],
  dataLocation: [14, "int32"],
});
tensorProto.add(entry);
const dimension = message("Dimension", { dimValue: [1, "int64"], dimParam: [2, "string"] });
const shape = message("TensorShapeProto", { dim: [1, "Dimension", "repeated"] });
const tensorType = message("TensorTypeProto", { elemType: [1, "int32"], shape: [2, "TensorShapeProto"] });
const valueType = message("TypeProto", { tensorType: [1, "TensorTypeProto"] });
const valueInfo = message("ValueInfoProto", { name: [1, "string"], type: [2, "TypeProto"] });
const graph = message("GraphProto", {
  node: [1, "NodeProto", "repeated"],
  name: [2, "string"],
  input: [11, "ValueInfoProto", "repeated"],
  output: [12, "ValueInfoProto", "repeated"],
});
const operatorSet = message("OperatorSetIdProto", { domain: [1, "string"], version: [2, "int64"] });

/** ModelProto: the root of an ONNX file. */
export const modelProto = message("ModelProto", {
  irVersion: [1, "int64"],
  producerName: [2, "string"],
  graph: [7, "GraphProto"],
  opsetImport: [8, "OperatorSetIdProto", "repeated"],
});

for (const type of [
  attribute,
  node,
  dimension,
  shape,
  tensorType,
  valueType,
  valueInfo,
  graph,
  operatorSet,
]) {
  modelProto.add(type);
}
