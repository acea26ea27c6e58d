import { type ArchitectureFacts, size, tokenId } from "../architecture-facts.ts";
import { TEXT_FORMS, type Templates, templateFault } from "./templates.ts";

/**
 * A classifier by entailment or a reranker, as the public exporters write them: `model.onnx` with the output `logits`.
 */
export interface PairClassifierArchitecture {
  readonly type: "pair-classifier";
  readonly reads: "entailment" | "relevance";
  /** Maximum tokens per pair. */
  readonly max_tokens: number;
  /** Number of logits. */
  readonly labels: number;
  /** Position of the logit of entailment, or of the only one. */
  readonly entailment: number;
  /** Position of the logit of contradiction or not_entailment. */
  readonly contradiction?: number;
  /** The hypothesis for each type of question, with the places {question} and {candidate}. */
  readonly hypothesis?: Templates;
}

const template = { type: "string", minLength: 1, maxLength: 1000 } as const;

export const pairClassifier: ArchitectureFacts<PairClassifierArchitecture> = {
  schema: {
    type: "object",
    description:
      "A graph that reads two texts: model.onnx with the inputs input_ids, attention_mask and perhaps token_type_ids (int64 or int32, [batch, sequence]) and the output logits (float32 or float16, [batch, labels]). tokenizer.json joins the texts, config.json has vocab_size.",
    required: ["type", "reads", "max_tokens", "labels", "entailment"],
    properties: {
      type: { type: "string", const: "pair-classifier" },
      reads: {
        type: "string",
        enum: ["entailment", "relevance"],
        description:
          "entailment: a premise and a hypothesis. relevance: a query and a document, for a model with one logit.",
      },
      max_tokens: size("Maximum number of tokens per pair, special tokens included."),
      labels: size("Number of logits."),
      entailment: tokenId("Position of the logit of entailment, or of the only one."),
      contradiction: {
        ...tokenId("Position of the logit of contradiction or not_entailment; required for entailment."),
        nullable: true,
      },
      hypothesis: {
        type: "object",
        nullable: true,
        description:
          "The hypothesis for each type of question, with the places {question} and {candidate}; required for entailment.",
        required: ["choice", "noul", "score", "rank"],
        properties: { choice: template, noul: template, score: template, rank: template },
      },
    },
  },
  files: ["config.json", "model.onnx", "tokenizer.json"],
  descriptions: ["config.json"],
  hasOwnGraph: true,
  loadMs: 300_000, // chosen, as for other large models
  faults: ({ reads, labels, entailment, contradiction, hypothesis }) => {
    if (reads === "relevance")
      return labels === 1 && entailment === 0
        ? []
        : [
            "has an /architecture that reads relevance with more than one label, expected labels 1 and entailment 0",
          ];
    if (contradiction === undefined || hypothesis === undefined)
      return ["lacks /architecture/contradiction or /architecture/hypothesis, which entailment needs"];
    const areLabels = entailment < labels && contradiction < labels && entailment !== contradiction;
    return [
      ...(areLabels ? [] : [`has positions in /architecture that are not two of its ${labels} labels`]),
      ...TEXT_FORMS.flatMap((form) => {
        const fault = templateFault(hypothesis[form], form);
        return fault === undefined ? [] : [`has a text at /architecture/hypothesis/${form} that ${fault}`];
      }),
    ];
  },
  describe: ({ reads, labels, max_tokens }) =>
    reads === "relevance"
      ? `a reranker, up to ${max_tokens} tokens per pair`
      : `a classifier by entailment with ${labels} labels, up to ${max_tokens} tokens per pair`,
};
