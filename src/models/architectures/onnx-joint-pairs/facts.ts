import { type ArchitectureFacts, size, tokenId } from "../architecture-facts.ts";

/** A graph that reads pairs, each as one text: `model.onnx`, `input_ids` and `attention_mask` -> `scores`. */
export interface JointGraphArchitecture {
  readonly type: "onnx-joint-pairs";
  /** Maximum tokens per pair. */
  readonly max_tokens: number;
  /** Present in such exports; ignored. */
  readonly pad_id?: number;
  readonly bos_id: number;
}

export const onnxJointPairs: ArchitectureFacts<JointGraphArchitecture> = {
  schema: {
    type: "object",
    description:
      "A graph that reads each pair as one text: model.onnx with the inputs input_ids and attention_mask (int64, [batch, sequence]) and the output scores (float32, [batch]).",
    required: ["type", "max_tokens", "bos_id"],
    properties: {
      type: { type: "string", const: "onnx-joint-pairs" },
      max_tokens: size("Maximum number of tokens per pair."),
      pad_id: {
        ...tokenId("Padding token. Ignored: the service runs one pair at a time, without padding."),
        nullable: true,
      },
      bos_id: tokenId("Token at the start of each pair."),
    },
  },
  files: ["model.onnx", "tokenizer.json"],
  descriptions: ["config.json", "onnx_manifest.json"],
  hasOwnGraph: true,
  loadMs: 300_000, // chosen, as for other large models
  describe: ({ max_tokens }) => `up to ${max_tokens} tokens per pair`,
};
