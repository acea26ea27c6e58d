import { JointTokenizer } from "../../../inference/tokens/joint-tokenizer.ts";
import type { Tokenizer } from "../../../inference/tokens/tokenizer.ts";
import { type ModelPackage, readPackageText } from "../../package/package.ts";
import { configNumbers, longestPair } from "../joint-limits.ts";
import type { JointGraphArchitecture } from "./facts.ts";

/** Each pair is tokenized as one text. */
export async function openTokenizer(
  modelPackage: ModelPackage,
  { max_tokens, bos_id: bosId }: JointGraphArchitecture,
): Promise<Tokenizer> {
  const { manifest } = modelPackage;
  const json = await readPackageText(modelPackage, "tokenizer.json");
  // a graph does not state its vocabulary, but its original configuration may be beside it
  const number = "config.json" in manifest.files ? await configNumbers(modelPackage) : undefined;
  const maxTokens = longestPair(manifest, max_tokens, "architecture.max_tokens");
  return new JointTokenizer(json, { bosId, maxTokens, vocabulary: number?.("vocab_size", 1) });
}
