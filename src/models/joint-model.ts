import { ServiceError } from "../errors.ts";
import { type ModelPackage, readPackageFile } from "./package.ts";

/** What the texts of a model that reads pairs as one text need to know of it. */
export interface JointModelFacts {
  /** Token that every pair begins with. */
  readonly bosId: number;
  /** Tokens of the longest pair that the model takes. */
  readonly maxTokens: number;
}

/** Tokens of the header between question and candidate, generously: the limits of a package must leave room for it. */
const HEADER_TOKENS = 16;

/**
 * @returns undefined for a model that reads state, question and candidate apart
 * @throws ServiceError INVALID_MODEL when the configuration lacks something, or the package's limits allow more than the model takes
 */
export async function jointModelFacts(modelPackage: ModelPackage): Promise<JointModelFacts | undefined> {
  const { architecture, limits } = modelPackage.manifest;
  if (architecture.type === "bert-token-tree") return undefined;
  const facts =
    architecture.type === "onnx-joint-pairs"
      ? { bosId: architecture.bos_id, maxTokens: architecture.max_tokens }
      : await readConfig(modelPackage);
  const most = limits.max_state_question_tokens + limits.max_candidate_tokens + HEADER_TOKENS;
  if (most > facts.maxTokens) {
    const allowed = `${limits.max_state_question_tokens} and ${limits.max_candidate_tokens} tokens, ${HEADER_TOKENS} for what stands between them`;
    throw invalid("manifest.json", `limits allow ${allowed}: more than the model's ${facts.maxTokens}`);
  }
  return facts;
}

async function readConfig(modelPackage: ModelPackage): Promise<JointModelFacts> {
  const bytes = await readPackageFile(modelPackage, "config.json");
  let config: unknown;
  try {
    config = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new ServiceError("INVALID_MODEL", "config.json is not JSON.", { cause });
  }
  return {
    bosId: readNumber(config, "bos_token_id", 0),
    maxTokens: readNumber(config, "max_position_embeddings", 1),
  };
}

function readNumber(config: unknown, name: string, least: number): number {
  const value: unknown =
    typeof config === "object" && config !== null ? Reflect.get(config, name) : undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  throw invalid("config.json", `${name} must be a whole number of at least ${least}`);
}

function invalid(file: string, what: string): ServiceError {
  return new ServiceError("INVALID_MODEL", `${file}: ${what}.`);
}
