import { ServiceError } from "../../errors.ts";
import type { JointModel } from "../../inference/tokens/joint-tokenizer.ts";
import type { JointGraphArchitecture, JointTextArchitecture, Manifest } from "../package/manifest.ts";
import { type ModelPackage, readPackageFile } from "../package/package.ts";

/** Additional tokens of a pair: separators, and tokens that joining may add. Chosen. */
const TOKENS_BETWEEN = 64;

/**
 * Tokens of the longest pair within the package's limits.
 *
 * @param allowed the model's maximum, stated by `where`
 * @throws ServiceError INVALID_MODEL if the maximum is smaller
 */
export function longestPair({ limits }: Manifest, allowed: number, where: string): number {
  const tokens = limits.max_state_question_tokens + limits.max_candidate_tokens + TOKENS_BETWEEN;
  if (tokens <= allowed) return tokens;
  throw new ServiceError(
    "INVALID_MODEL",
    `The limits of manifest.json allow ${tokens} tokens per pair, but ${where} allows ${allowed}.`,
  );
}

/**
 * The facts about a model that a joint tokenizer needs.
 *
 * @throws ServiceError INVALID_MODEL if the configuration is incomplete, or the package's limits exceed the model's
 */
export async function jointModelFacts(
  modelPackage: ModelPackage,
  architecture: JointTextArchitecture | JointGraphArchitecture,
): Promise<JointModel> {
  const { manifest } = modelPackage;
  // a graph does not state its vocabulary, but its original configuration may be beside it
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
