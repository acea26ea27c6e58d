import { Field, Root, Type } from "protobufjs";

type Fields = Readonly<Record<string, readonly [id: number, type: string, rule?: "repeated"]>>;

/** Messages of a part of the ONNX schema. @see https://github.com/onnx/onnx/blob/main/onnx/onnx.proto (field numbers and names) */
export function messages(schema: Readonly<Record<string, Fields>>): Root {
  const root = new Root();
  for (const [name, fields] of Object.entries(schema)) {
    const type = new Type(name);
    for (const [field, [id, of, rule]] of Object.entries(fields)) type.add(new Field(field, id, of, rule));
    root.add(type);
  }
  return root;
}

/** The part of the schema that our graphs use. */
const written = messages({
  ModelProto: {
    irVersion: [1, "int64"],
    producerName: [2, "string"],
    graph: [7, "GraphProto"],
    opsetImport: [8, "OperatorSetIdProto", "repeated"],
  },
  OperatorSetIdProto: { domain: [1, "string"], version: [2, "int64"] },
  GraphProto: {
    node: [1, "NodeProto", "repeated"],
    name: [2, "string"],
    input: [11, "ValueInfoProto", "repeated"],
    output: [12, "ValueInfoProto", "repeated"],
  },
  NodeProto: {
    input: [1, "string", "repeated"],
    output: [2, "string", "repeated"],
    name: [3, "string"],
    opType: [4, "string"],
    attribute: [5, "AttributeProto", "repeated"],
    domain: [7, "string"],
  },
  AttributeProto: {
    name: [1, "string"],
    f: [2, "float"],
    i: [3, "int64"],
    s: [4, "bytes"],
    g: [6, "GraphProto"],
    ints: [8, "int64", "repeated"],
    type: [20, "int32"],
  },
  // the graph builder writes a constant's `raw_data` (field 9), or it is in another file (`dataLocation` 1)
  TensorProto: {
    dims: [1, "int64", "repeated"],
    dataType: [2, "int32"],
    name: [8, "string"],
    externalData: [13, "StringStringEntryProto", "repeated"],
    dataLocation: [14, "int32"],
  },
  StringStringEntryProto: { key: [1, "string"], value: [2, "string"] },
  ValueInfoProto: { name: [1, "string"], type: [2, "TypeProto"] },
  TypeProto: { tensorType: [1, "TensorTypeProto"] },
  TensorTypeProto: { elemType: [1, "int32"], shape: [2, "TensorShapeProto"] },
  TensorShapeProto: { dim: [1, "Dimension", "repeated"] },
  Dimension: { dimValue: [1, "int64"], dimParam: [2, "string"] },
});

/** The root of an ONNX file. */
export const modelProto = written.lookupType("ModelProto");
/** A constant. */
export const tensorProto = written.lookupType("TensorProto");
