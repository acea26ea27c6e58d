import { invalidModel } from "../../errors.ts";
import { memberOf } from "../../records.ts";
import { count } from "../package/folder-files.ts";
import type { Manifest } from "../package/manifest-schema.ts";
import { type ModelPackage, readPackageText } from "../package/package.ts";

/** Additional tokens of a pair: a few separators, and room for tokens that joining may add. */
const TOKENS_BETWEEN = 64;

/** The published recipe's limits, used if a folder has none. */
const LIMITS = { max_state_question_tokens: 2048, max_candidate_tokens: 768 };
/** Files of a tokenizer that a package keeps, though they are not read. */
export const TEXT_FILES = ["added_tokens.json", "special_tokens_map.json", "tokenizer_config.json"];

/**
 * Tokens of the longest pair within the package's limits.
 *
 * @param allowed the model's maximum, stated by `where`
 * @throws ServiceError INVALID_MODEL if the maximum is smaller
 */
export function longestPair({ limits }: Manifest, allowed: number, where: string): number {
  const tokens = limits.max_state_question_tokens + limits.max_candidate_tokens + TOKENS_BETWEEN;
  if (tokens <= allowed) return tokens;
  throw invalidModel(
    `The limits of manifest.json allow ${tokens} tokens per pair, but ${where} allows ${allowed}.`,
  );
}

/** Limits as the recipe's trainer writes them. */
export function limitsOf(config: Record<string, unknown>): Manifest["limits"] {
  return {
    max_state_question_tokens: count(config.max_state_tokens, LIMITS.max_state_question_tokens),
    max_candidate_tokens: count(config.max_action_tokens, LIMITS.max_candidate_tokens),
  };
}

/**
 * Reads numbers of a package's config.json.
 * @throws ServiceError INVALID_MODEL, also from the function that it returns
 */
export async function configNumbers(
  modelPackage: ModelPackage,
): Promise<(name: string, least: number) => number> {
  const text = await readPackageText(modelPackage, "config.json");
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch (cause) {
    throw invalidModel("config.json is not JSON.", { cause });
  }
  return (name, least) => {
    const value = memberOf(config, name);
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
    throw invalidModel(`config.json: ${name} must be a whole number of at least ${least}.`);
  };
}
