import type { ArchitectureFacts } from "../architecture-facts.ts";

/**
 * A causal model that reads a pair as one text. `config.json` has the shape, `model.safetensors` the weights,
 * `joint_head.safetensors` the head.
 */
export interface JointTextArchitecture {
  readonly type: "gemma3-text-joint";
}

export const gemma3TextJoint: ArchitectureFacts<JointTextArchitecture> = {
  schema: {
    type: "object",
    description:
      "A causal gemma3_text model that reads a pair as one text. config.json has the shape, model.safetensors the weights, joint_head.safetensors the scoring head.",
    required: ["type"],
    properties: { type: { type: "string", const: "gemma3-text-joint" } },
  },
  files: ["config.json", "joint_head.safetensors", "model.safetensors", "tokenizer.json"],
  descriptions: ["config.json", "joint_config.json"],
  hasOwnGraph: false,
  loadMs: 300_000, // chosen: weights are rounded and written to disk at the first start (10 s measured)
  describe: () => "its shape in config.json",
};
