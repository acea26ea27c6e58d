import type { PublishedModel } from "../../src/models/store/catalogue.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { REPOSITORY, REVISION, sha256 } from "./hub-server.ts";

/** Files of a published model, small; their contents mean nothing. */
export function tinyFiles(weightBytes = 300_000): ReadonlyMap<string, Buffer> {
  const { below } = seededRandom(weightBytes);
  const weights = Buffer.from(Uint8Array.from({ length: weightBytes }, () => below(256)));
  return new Map([
    ["config.json", Buffer.from('{"model_type": "gemma3_text"}')],
    ["joint_head.safetensors", weights.subarray(0, 1000)],
    ["model.safetensors", weights],
    ["tokenizer.json", Buffer.from('{"model": {}}')],
  ]);
}

/** Those of the files that the hub keeps on another host. */
export const LARGE = ["model.safetensors", "joint_head.safetensors"];

export function tinyModel(files: ReadonlyMap<string, Buffer>): PublishedModel {
  return {
    manifest: {
      format: "typed-decisions-model-v1",
      id: `${REPOSITORY}@${REVISION}`,
      aliases: ["tiny"],
      version: "v1",
      release_date: "2026-11-21",
      description: "a small one",
      temperature: 2,
      shows_labels: false,
      architecture: { type: "gemma3-text-joint" },
      limits: { max_state_question_tokens: 64, max_candidate_tokens: 32 },
      files: Object.fromEntries([...files].map(([name, content]) => [name, sha256(content)])),
      origin: { repository: REPOSITORY, revision: REVISION },
    },
    terms: "terms of a test",
    maxFileBytes: 1_000_000,
  };
}
