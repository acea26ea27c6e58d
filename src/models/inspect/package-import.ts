import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileFault, ServiceError } from "../../errors.ts";
import { type Architecture, examineManifest, type Manifest } from "../package/manifest.ts";
import { isPlainFileName } from "../package/names.ts";
import { revisionOf } from "../package/package.ts";
import { digestOf, locateFile, parseJson } from "../package/package-file.ts";
import { GEMMA_DECISION_TEMPERATURE, PUBLISHED_MODELS, type PublishedModel } from "../store/catalogue.ts";

/** Facts given by the user. The rest is read from the files. */
export interface ImportFacts {
  /** `<namespace>/<name>` */
  readonly name?: string | undefined;
  readonly aliases: readonly string[];
  readonly version: string;
  readonly releaseDate: string;
  readonly description?: string | undefined;
  readonly temperature?: number | undefined;
  readonly maxStateQuestionTokens?: number | undefined;
  readonly maxCandidateTokens?: number | undefined;
}

/** Facts read from the files of a folder. */
interface FolderFacts {
  readonly architecture: Architecture;
  /** Required files. */
  readonly needed: readonly string[];
  /** Optional files. */
  readonly welcome: readonly string[];
  readonly limits: Manifest["limits"];
  readonly description: string;
}

const TEXT_FILES = ["added_tokens.json", "special_tokens_map.json", "tokenizer_config.json"];
/** The published recipe's limits, used if the folder has none. */
const LIMITS = { max_state_question_tokens: 2048, max_candidate_tokens: 768 };
const ONNX_MAX_TOKENS = 3072;
const GEMMA_BOS_ID = 2;

/**
 * Makes the manifest of a folder: a fine-tuned gemma3_text model with a scoring head, or its ONNX export.
 *
 * @throws ServiceError INVALID_MODEL naming what the folder lacks
 */
export async function describeFolder(
  folder: string,
  facts: ImportFacts,
  published: readonly PublishedModel[] = PUBLISHED_MODELS,
): Promise<Manifest> {
  const names = await namesIn(folder);
  const found = names.includes("onnx_manifest.json")
    ? await onnxExport(folder)
    : await jointText(folder, names);
  const files = await digests(folder, [
    ...found.needed,
    ...found.welcome.filter((name) => names.includes(name) && !found.needed.includes(name)),
  ]);
  const known = published.find(({ manifest }) => sameFiles(manifest.files, files));
  if (known) return known.manifest;
  const manifest: Manifest = {
    format: "typed-decisions-model-v1",
    id: `${facts.name ?? `local/${plainName(path.basename(path.resolve(folder)))}`}@${revisionOf(files)}`,
    aliases: facts.aliases,
    version: facts.version,
    release_date: facts.releaseDate,
    description: facts.description ?? found.description,
    temperature: facts.temperature ?? GEMMA_DECISION_TEMPERATURE,
    shows_labels: false,
    architecture: found.architecture,
    limits: {
      max_state_question_tokens: facts.maxStateQuestionTokens ?? found.limits.max_state_question_tokens,
      max_candidate_tokens: facts.maxCandidateTokens ?? found.limits.max_candidate_tokens,
    },
    files,
  };
  const { faults } = examineManifest(JSON.stringify(manifest));
  if (faults.length > 0) throw invalid(`the manifest of ${folder} ${faults[0]}.`);
  return manifest;
}

async function onnxExport(folder: string): Promise<FolderFacts> {
  const file = "onnx_manifest.json";
  const exported = await readRecord(folder, file);
  if (exported.format !== "gemmadecision-onnx-v1")
    throw invalid(`${file} in ${folder} has the wrong format, expected gemmadecision-onnx-v1.`);
  const model = exported.model_file ?? "model.onnx";
  if (model !== "model.onnx")
    throw invalid(`${file} in ${folder} has the model_file ${shown(model)}, expected model.onnx.`);
  const listed = isRecord(exported.files) ? exported.files : {};
  const files = await digests(folder, plainNames(Object.keys(listed), `${file} in ${folder}`));
  const differing = Object.keys(files).find((name) => files[name] !== listed[name]);
  if (differing !== undefined)
    throw invalid(`${differing} in ${folder} does not match its digest in ${file}.`);
  const config = Object.hasOwn(listed, "config.json") ? await readRecord(folder, "config.json") : {};
  return {
    architecture: {
      type: "onnx-joint-pairs",
      max_tokens: count(exported.max_sequence_length, ONNX_MAX_TOKENS),
      pad_id: count(exported.pad_token_id, 0),
      bos_id: count(config.bos_token_id, GEMMA_BOS_ID),
    },
    needed: [...new Set(["model.onnx", "tokenizer.json", file, ...Object.keys(listed)])],
    welcome: TEXT_FILES,
    limits: limitsOf(exported),
    description: "ONNX export of a causal model with a scoring head for typed decisions",
  };
}

async function jointText(folder: string, names: readonly string[]): Promise<FolderFacts> {
  const needed = ["config.json", "joint_head.safetensors", "model.safetensors", "tokenizer.json"];
  if (names.includes("model.safetensors.index.json"))
    throw invalid(`${folder} has its weights in several files; save them as one model.safetensors.`);
  const missing = needed.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw invalid(
      `${folder} lacks ${missing.join(", ")}. A gemma3_text model with a scoring head has config.json, model.safetensors, joint_head.safetensors and tokenizer.json; its ONNX export has onnx_manifest.json.`,
    );
  }
  const { model_type: type } = await readRecord(folder, "config.json");
  if (type !== "gemma3_text")
    throw invalid(`config.json in ${folder} has the model_type ${shown(type)}, expected gemma3_text.`);
  const joint = names.includes("joint_config.json") ? await readRecord(folder, "joint_config.json") : {};
  if (joint.format !== undefined && joint.format !== "gemmadecision-full-joint-v4")
    throw invalid(
      `joint_config.json in ${folder} has the wrong format, expected gemmadecision-full-joint-v4.`,
    );
  if (joint.head_file !== undefined && joint.head_file !== "joint_head.safetensors")
    throw invalid(`joint_config.json in ${folder} has the wrong head_file, expected joint_head.safetensors.`);
  return {
    architecture: { type: "gemma3-text-joint" },
    needed,
    welcome: ["joint_config.json", ...TEXT_FILES],
    limits: limitsOf(joint),
    description: "causal model (gemma3_text) with a scoring head for typed decisions",
  };
}

function limitsOf(config: Record<string, unknown>): Manifest["limits"] {
  return {
    max_state_question_tokens: count(config.max_state_tokens, LIMITS.max_state_question_tokens),
    max_candidate_tokens: count(config.max_action_tokens, LIMITS.max_candidate_tokens),
  };
}

const count = (value: unknown, otherwise: number) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : otherwise;

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    throw invalid(`${folder} cannot be read: ${fileFault(error, "there is no such folder")}.`, error);
  }
}

/** Checks that no name refers to a file outside the folder. @throws ServiceError INVALID_MODEL with the name that does */
function plainNames(names: readonly string[], where: string): readonly string[] {
  const other = names.find((name) => !isPlainFileName(name));
  if (other === undefined) return names;
  throw invalid(`${where} contains a file name with a folder or special characters: ${shown(other)}.`);
}

async function digests(folder: string, names: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of names.toSorted()) {
    const located = await locateFile(folder, name);
    if (located.fault !== undefined) throw invalid(`${name} in ${folder} ${located.why}.`);
    found[name] = await digestOf(located.path);
  }
  return found;
}

async function readRecord(folder: string, name: string): Promise<Record<string, unknown>> {
  const located = await locateFile(folder, name);
  if (located.fault !== undefined) throw invalid(`${name} in ${folder} ${located.why}.`);
  try {
    const value = parseJson(await readFile(located.path, "utf8"));
    if (isRecord(value)) return value;
  } catch (error) {
    throw invalid(`${name} in ${folder} is not JSON.`, error);
  }
  throw invalid(`${name} in ${folder} is not a JSON object.`);
}

function sameFiles(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  return revisionOf(a) === revisionOf(b);
}

/** A folder's name, converted to a valid name of a model. */
function plainName(name: string): string {
  const words = name.slice(0, 96).split(/[^A-Za-z0-9_.]+|\.{2,}/);
  return (
    words
      .map((word) => word.replaceAll(/^\.|\.$/g, ""))
      .filter((word) => word !== "")
      .join("-") || "model"
  );
}

/** A value of a file as a message shows it: strings in quotes, of other values only the type. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 100));
  return value === undefined ? "none" : typeof value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(message: string, cause?: unknown): ServiceError {
  return new ServiceError("INVALID_MODEL", message, { cause });
}
