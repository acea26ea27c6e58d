import {
  openPairEncoder,
  type PairEncoder,
  PairTokenizer,
} from "../../../inference/tokens/pair-tokenizer.ts";
import type { Tokenizer } from "../../../inference/tokens/tokenizer.ts";
import { type ModelPackage, readPackageText } from "../../package/package.ts";
import { configNumbers } from "../joint-limits.ts";
import type { PairClassifierArchitecture } from "./facts.ts";
import { entailmentTexts, relevanceTexts } from "./texts.ts";

export async function openTokenizer(
  modelPackage: ModelPackage,
  { max_tokens: maxTokens, hypothesis }: PairClassifierArchitecture,
): Promise<Tokenizer> {
  return new PairTokenizer(await openEncoder(modelPackage), {
    maxTokens,
    textsOf: (asked) =>
      hypothesis === undefined ? relevanceTexts(asked) : entailmentTexts(asked, hypothesis),
  });
}

/** @throws ServiceError INVALID_MODEL */
export async function openEncoder(modelPackage: ModelPackage): Promise<PairEncoder> {
  const json = await readPackageText(modelPackage, "tokenizer.json");
  const number = await configNumbers(modelPackage);
  return openPairEncoder(json, number("vocab_size", 1));
}
