import { PartTokenizer, RecentParts } from "../../../inference/tokens/part-plan.ts";
import type { Tokenizer } from "../../../inference/tokens/tokenizer.ts";
import { WordPieceEncoder } from "../../../inference/tokens/word-pieces.ts";
import { type ModelPackage, readPackageText } from "../../package/package.ts";
import type { TokenTreeArchitecture } from "./facts.ts";

/** State, question and candidates are tokenized one by one. */
export async function openTokenizer(
  modelPackage: ModelPackage,
  { vocab }: TokenTreeArchitecture,
): Promise<Tokenizer> {
  const encoder = new WordPieceEncoder(await readPackageText(modelPackage, "tokenizer.json"), vocab);
  return new PartTokenizer(new RecentParts(encoder), encoder);
}
