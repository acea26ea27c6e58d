import { ServiceError } from "../../errors.ts";
import type { JointModel } from "../../inference/tokens/joint-tokenizer.ts";
import type { Manifest } from "../package/manifest.ts";
import { type ModelPackage, readPackageFile } from "../package/package.ts";

/** Tokens of a pair beyond the limits of its texts: those between them, and what joining them may add. Chosen. */
const TOKENS_BETWEEN = 64;

/**
 * Tokens of the longest pair within the package's limits.
 *
 * @param allowed what the model takes, by `where`
 * @throws ServiceError INVALID_MODEL where that is less
 */
export function longestPair({ limits }: Manifest, allowed: number, where: string): number {
  const tokens = limits.max_state_question_tokens + limits.max_candidate_tokens + TOKENS_BETWEEN;
  if (tokens <= allowed) return tokens;
  throw new ServiceError(
    "INVALID_MODEL",
    `The limits of manifest.json let a pair have ${tokens} tokens, ${where} ${allowed}.`,
  );
}

/**
 * @returns undefined for a model that reads state, question and candidate apart
 * @throws ServiceError INVALID_MODEL when the configuration lacks something, or the package's limits allow more than the model takes
 */
export async function jointModelFacts(modelPackage: ModelPackage): Promise<JointModel | undefined> {
  const { manifest } = modelPackage;
  const { architecture } = manifest;
  if (architecture.type === "bert-token-tree") return undefined;
  // a graph says nothing of its vocabulary, but the configuration that it was made from may lie beside it
  const hasConfig = architecture.type === "gemma3-text-joint" || "config.json" in manifest.files;
  const config = hasConfig ? await readConfig(modelPackage) : undefined;
  const vocabulary = config === undefined ? undefined : readNumber(config, "vocab_size", 1);
  if (architecture.type === "onnx-joint-pairs") {
    const maxTokens = longestPair(manifest, architecture.max_tokens, "architecture.max_tokens");
    return { bosId: architecture.bos_id, maxTokens, vocabulary };
  }
  const positions = readNumber(config, "max_position_embeddings", 1);
  const maxTokens = longestPair(manifest, positions, "max_position_embeddings in config.json");
  return { bosId: readNumber(config, "bos_token_id", 0), maxTokens, vocabulary };
}

async function readConfig(modelPackage: ModelPackage): Promise<unknown> {
  const bytes = await readPackageFile(modelPackage, "config.json");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new ServiceError("INVALID_MODEL", "config.json is not JSON.", { cause });
  }
}

function readNumber(config: unknown, name: string, least: number): number {
  const value: unknown =
    typeof config === "object" && config !== null ? Reflect.get(config, name) : undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  throw new ServiceError(
    "INVALID_MODEL",
    `config.json: ${name} must be a whole number of at least ${least}.`,
  );
}
