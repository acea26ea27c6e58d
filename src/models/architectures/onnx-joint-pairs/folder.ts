import { invalidModel } from "../../../errors.ts";
import { isRecord } from "../../../records.ts";
import { count, digests, plainNames, readRecord, shown } from "../../package/folder-files.ts";
import type { FolderFacts } from "../architecture.ts";
import { limitsOf, TEXT_FILES } from "../joint-limits.ts";

const FILE = "onnx_manifest.json";
/** Facts of the published export, used if the folder has none. */
const MAX_TOKENS = 3072;
const BOS_ID = 2;

/** An ONNX export of a causal model with a scoring head. */
export async function describe(folder: string, names: readonly string[]): Promise<FolderFacts | undefined> {
  if (!names.includes(FILE)) return undefined;
  const exported = await readRecord(folder, FILE);
  if (exported.format !== "gemmadecision-onnx-v1")
    throw invalidModel(`${FILE} in ${folder} has the wrong format, expected gemmadecision-onnx-v1.`);
  const model = exported.model_file ?? "model.onnx";
  if (model !== "model.onnx")
    throw invalidModel(`${FILE} in ${folder} has the model_file ${shown(model)}, expected model.onnx.`);
  const listed = isRecord(exported.files) ? exported.files : {};
  const files = await digests(folder, plainNames(Object.keys(listed), `${FILE} in ${folder}`));
  const differing = Object.keys(files).find((name) => files[name] !== listed[name]);
  if (differing !== undefined)
    throw invalidModel(`${differing} in ${folder} does not match its digest in ${FILE}.`);
  const config = Object.hasOwn(listed, "config.json") ? await readRecord(folder, "config.json") : {};
  return {
    architecture: {
      type: "onnx-joint-pairs",
      max_tokens: count(exported.max_sequence_length, MAX_TOKENS),
      pad_id: count(exported.pad_token_id, 0),
      bos_id: count(config.bos_token_id, BOS_ID),
    },
    needed: [...new Set(["model.onnx", "tokenizer.json", FILE, ...Object.keys(listed)])],
    welcome: TEXT_FILES,
    limits: limitsOf(exported),
    description: "ONNX export of a causal model with a scoring head for typed decisions",
  };
}
