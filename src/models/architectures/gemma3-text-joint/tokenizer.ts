import { JointTokenizer } from "../../../inference/tokens/joint-tokenizer.ts";
import type { Tokenizer } from "../../../inference/tokens/tokenizer.ts";
import { type ModelPackage, readPackageText } from "../../package/package.ts";
import { configNumbers, longestPair } from "../joint-limits.ts";

/** Each pair is tokenized as one text. */
export async function openTokenizer(modelPackage: ModelPackage): Promise<Tokenizer> {
  const json = await readPackageText(modelPackage, "tokenizer.json");
  const number = await configNumbers(modelPackage);
  const vocabulary = number("vocab_size", 1);
  const positions = number("max_position_embeddings", 1);
  const maxTokens = longestPair(modelPackage.manifest, positions, "max_position_embeddings in config.json");
  return new JointTokenizer(json, { bosId: number("bos_token_id", 0), maxTokens, vocabulary });
}
