import { invalidModel } from "../../../errors.ts";
import { readRecord, shown } from "../../package/folder-files.ts";
import type { FolderFacts } from "../architecture.ts";
import { limitsOf, TEXT_FILES } from "../joint-limits.ts";
import { gemma3TextJoint } from "./facts.ts";

/** A folder with none of these holds another kind of model. */
const OWN_FILES = ["model.safetensors", "model.safetensors.index.json", "joint_head.safetensors"];

/** A fine-tuned gemma3_text model with a scoring head. */
export async function describe(folder: string, names: readonly string[]): Promise<FolderFacts | undefined> {
  const needed = gemma3TextJoint.files;
  if (!OWN_FILES.some((name) => names.includes(name))) return undefined;
  if (names.includes("model.safetensors.index.json"))
    throw invalidModel(`${folder} has its weights in several files; save them as one model.safetensors.`);
  const missing = needed.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw invalidModel(
      `${folder} lacks ${missing.join(", ")}. A gemma3_text model with a scoring head has config.json, model.safetensors, joint_head.safetensors and tokenizer.json; its ONNX export has onnx_manifest.json.`,
    );
  }
  const { model_type: type } = await readRecord(folder, "config.json");
  if (type !== "gemma3_text")
    throw invalidModel(`config.json in ${folder} has the model_type ${shown(type)}, expected gemma3_text.`);
  const joint = names.includes("joint_config.json") ? await readRecord(folder, "joint_config.json") : {};
  if (joint.format !== undefined && joint.format !== "gemmadecision-full-joint-v4")
    throw invalidModel(
      `joint_config.json in ${folder} has the wrong format, expected gemmadecision-full-joint-v4.`,
    );
  if (joint.head_file !== undefined && joint.head_file !== "joint_head.safetensors")
    throw invalidModel(
      `joint_config.json in ${folder} has the wrong head_file, expected joint_head.safetensors.`,
    );
  return {
    architecture: { type: "gemma3-text-joint" },
    needed,
    welcome: ["joint_config.json", ...TEXT_FILES],
    limits: limitsOf(joint),
    description: "causal model (gemma3_text) with a scoring head for typed decisions",
  };
}
