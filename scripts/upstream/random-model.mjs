// Writes a model folder for gemmadecision 0.2.0 with the random weights that our tests have as an ONNX export.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const EXPORT = path.join(import.meta.dirname, "../../test/golden/gemma3/onnx-export");
const COPIED = ["model.onnx", "tokenizer.json", "config.json"];
const WRITTEN = {
  "tokenizer_config.json": { add_bos_token: true, add_eos_token: false },
  "joint_config.json": {
    format: "gemmadecision-full-joint-v4",
    max_state_tokens: 2048,
    max_action_tokens: 768,
  },
};
/** The only revision that the package accepts. */
const REVISION = "785d530221c990671f29976902540101bb9c7647";

/** Writes the folder. @returns the SHA-256 of the manifest, which the server must trust */
export function writeRandomModel(folder) {
  mkdirSync(folder, { recursive: true });
  for (const name of COPIED) copyFileSync(path.join(EXPORT, name), path.join(folder, name));
  for (const [name, content] of Object.entries(WRITTEN))
    writeFileSync(path.join(folder, name), JSON.stringify(content));
  const names = [...COPIED, ...Object.keys(WRITTEN)];
  const files = Object.fromEntries(
    names.map((name) => [name, sha256(readFileSync(path.join(folder, name)))]),
  );
  const manifest = JSON.stringify({
    format: "gemmadecision-onnx-v1",
    source_model_revision: REVISION,
    model_file: "model.onnx",
    max_sequence_length: 3072,
    files,
  });
  writeFileSync(path.join(folder, "onnx_manifest.json"), manifest);
  return sha256(manifest);
}

const sha256 = (content) => createHash("sha256").update(content).digest("hex");
