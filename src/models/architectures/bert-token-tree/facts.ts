import { type ArchitectureFacts, size } from "../architecture-facts.ts";

/** An encoder whose attention follows state, question, candidate; weights in `model.safetensors`. */
export interface TokenTreeArchitecture {
  readonly type: "bert-token-tree";
  readonly vocab: number;
  readonly hidden: number;
  readonly heads: number;
  readonly inner: number;
  readonly layers: number;
  readonly positions: number;
  readonly layer_norm_epsilon: number;
  readonly activation: "gelu_exact";
}

export const bertTokenTree: ArchitectureFacts<TokenTreeArchitecture> = {
  schema: {
    type: "object",
    description:
      "An encoder whose attention follows state, question and candidate. model.safetensors has the weights in float16 or as int8 rows, tokenizer.json a BERT WordPiece tokenizer.",
    required: [
      "type",
      "vocab",
      "hidden",
      "heads",
      "inner",
      "layers",
      "positions",
      "layer_norm_epsilon",
      "activation",
    ],
    properties: {
      type: { type: "string", const: "bert-token-tree" },
      vocab: size("Size of the vocabulary."),
      hidden: size("Size of a hidden vector; a multiple of heads."),
      heads: size("Attention heads per layer."),
      inner: size("Width of the feed-forward layer."),
      layers: size("Layers."),
      positions: size("Rows of the position table."),
      layer_norm_epsilon: {
        type: "number",
        exclusiveMinimum: 0,
        description: "Added to the variance in layer normalization.",
      },
      activation: { type: "string", const: "gelu_exact", description: "GELU with the error function." },
    },
  },
  files: ["model.safetensors", "tokenizer.json"],
  hasOwnGraph: false,
  loadMs: 60_000, // chosen: about fifty times the load time on two cores
  faults: ({ hidden, heads }) =>
    hidden % heads === 0
      ? []
      : [`has /architecture/hidden ${hidden}, expected a multiple of its heads, ${heads}`],
  describe: ({ layers, hidden, heads, vocab }) =>
    `${layers} layers of width ${hidden} with ${heads} heads, ${vocab} tokens`,
};
