import type { WholeGraph } from "../../models/architectures/whole-graph.ts";

const TRITON_TYPES: Readonly<Record<string, string>> = {
  bool: "TYPE_BOOL",
  int32: "TYPE_INT32",
  int64: "TYPE_INT64",
  float32: "TYPE_FP32",
  uint8: "TYPE_UINT8",
};

export interface TritonSettings {
  readonly backend: "onnx" | "native";
  readonly precision: string;
  readonly instances: number;
  readonly threads: number;
}

/**
 * `config.pbtxt` of a Triton model repository: variable sizes, the given number of instances, no batching by Triton.
 */
export function tritonConfig(
  name: string,
  { inputs, outputs, digest }: Pick<WholeGraph, "inputs" | "outputs" | "digest">,
  { backend, precision, instances, threads }: TritonSettings,
): string {
  const list = (tensors: WholeGraph["inputs"]) =>
    tensors
      .map(({ name, type, shape }) => {
        const dims = shape.map((size) => (typeof size === "number" ? size : -1)).join(", ");
        return `  { name: "${name}" data_type: ${TRITON_TYPES[type]} dims: [ ${dims} ] }`;
      })
      .join(",\n");
  const runs =
    backend === "native"
      ? 'backend: "python"'
      : 'backend: "onnxruntime"\ndefault_model_filename: "model.onnx"';
  const parameters = {
    // the name that onnxruntime uses
    ...(backend === "native" ? { threads, precision } : { intra_op_thread_count: threads }),
    decision_digest: Buffer.from(digest).toString("hex"),
  };
  return `# Written by \`decision model export\`.
name: "${name}"
${runs}
# a request is already a batch of packed trees of any size
max_batch_size: 0
input [
${list(inputs)}
]
output [
${list(outputs)}
]
instance_group [ { count: ${instances} kind: KIND_AUTO } ]
${Object.entries(parameters)
  .map(([key, value]) => `parameters { key: "${key}" value: { string_value: "${value}" } }`)
  .join("\n")}
`;
}

/** A KServe InferenceService that serves the repository with Triton. */
export function inferenceService(name: string): string {
  // names that KServe accepts:
  // https://github.com/kserve/kserve/blob/v0.19.0/pkg/apis/serving/v1beta1/inference_service_validation.go
  const label = name
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .replace(/^(?=[^a-z])/, "model-");
  return `# Written by \`decision model export\`. Copy the folder repository to storageUri.
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: ${label}
spec:
  predictor:
    model:
      modelFormat:
        name: triton
      protocolVersion: v2
      storageUri: pvc://models/repository
      resources:
        requests: { cpu: "2", memory: 2Gi }
        limits: { cpu: "2", memory: 2Gi }
`;
}
