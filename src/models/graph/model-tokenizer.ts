import type { Tokenizer } from "../../inference/ports.ts";
import { JointTokenizer } from "../../inference/tokens/joint-tokenizer.ts";
import { PartTokenizer } from "../../inference/tokens/part-plan.ts";
import { RecentParts } from "../../inference/tokens/recent-parts.ts";
import { WordPieceEncoder } from "../../inference/tokens/word-pieces.ts";
import { type ModelPackage, readPackageFile } from "../package/package.ts";
import { jointModelFacts } from "./joint-model.ts";

/**
 * The tokenizer of a package. A token tree's state, question and candidates are tokenized one by one, any other model's pairs as
 * one text.
 *
 * @throws ServiceError INVALID_MODEL
 */
export async function openTokenizer(modelPackage: ModelPackage): Promise<Tokenizer> {
  const json = new TextDecoder().decode(await readPackageFile(modelPackage, "tokenizer.json"));
  const { architecture } = modelPackage.manifest;
  if (architecture.type !== "bert-token-tree")
    return new JointTokenizer(json, await jointModelFacts(modelPackage, architecture));
  const encoder = new WordPieceEncoder(json, architecture.vocab);
  return new PartTokenizer(new RecentParts(encoder), encoder);
}
