import type { Manifest } from "../package/manifest.ts";

/** A published model that this version knows and `decision model pull` fetches. */
export interface PublishedModel {
  /** The manifest that a pull writes. It pins each file's digest, so that no host has to be trusted. */
  readonly manifest: Manifest & Required<Pick<Manifest, "origin">>;
  /** Terms of use of the weights, as text. */
  readonly terms: string | undefined;
  /** Maximum size of a file. The hub gives the actual sizes. */
  readonly maxFileBytes: number;
}

/** Temperature of the GemmaDecision weights, as published by their authors. */
export const GEMMA_DECISION_TEMPERATURE = 4.136820402388508;

const REVISION = "785d530221c990671f29976902540101bb9c7647";

export const PUBLISHED_MODELS: readonly PublishedModel[] = [
  {
    manifest: {
      format: "typed-decisions-model-v1",
      id: `rajan2k/GemmaDecision-270M@${REVISION}`,
      aliases: ["gemmadecision"],
      version: "v0.4.0",
      // inferred: the publisher's evaluation protocol of that day is the first to name this commit
      release_date: "2026-09-27",
      description: "270M-parameter causal model with a scoring head for typed decisions, Gemma 3 fine-tuned",
      temperature: GEMMA_DECISION_TEMPERATURE,
      shows_labels: false,
      architecture: { type: "gemma3-text-joint" },
      limits: { max_state_question_tokens: 2048, max_candidate_tokens: 768 },
      files: {
        "added_tokens.json": "50b2f405ba56a26d4913fd772089992252d7f942123cc0a034d96424221ba946",
        "config.json": "c1c64396b2939c76f0fa091aa07815b6e6f5ac1a60bfe3878993f0f575dd3ff3",
        "joint_config.json": "d48f2b5ad5fbea6a3d6723017a6f6a114260a331f0b917b8008de14501091533",
        "joint_head.safetensors": "72ec4e7d1f0908ad684eeae250f0f70128aa4342b46174bf92a3c9851c5dd965",
        "model.safetensors": "d7a3e291bfdfa7cd85b33a8a99ef81a4a7d3192e46c77253f3daf14dfd7d6b95",
        "special_tokens_map.json": "2f7b0adf4fb469770bb1490e3e35df87b1dc578246c5e7e6fc76ecf33213a397",
        "tokenizer.json": "7d4046bf0505a327dd5a0abbb427ecd4fc82f99c2ceaa170bc61ecde12809b0c",
        "tokenizer_config.json": "94b03056ec5831e9021c3e3fe9db682778c4f2d081c4188f1fcb8b90541cf1cf",
      },
      origin: { repository: "rajan2k/GemmaDecision-270M", revision: REVISION },
    },
    terms: "Gemma Terms of Use, https://ai.google.dev/gemma/terms",
    maxFileBytes: 2 ** 31, // chosen: 270M numbers in float32 are half of it
  },
];

/** Terms of use of a published model, if any. */
export function publishedTerms(id: string): string | undefined {
  return PUBLISHED_MODELS.find(({ manifest }) => manifest.id === id)?.terms;
}
