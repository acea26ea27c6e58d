import { hasClassPatternsOnly } from "../../../inference/tokens/class-patterns.ts";
import { invalid, LibraryEncoder, parseTokenizer } from "../../../inference/tokens/library-encoder.ts";
import { PartTokenizer } from "../../../inference/tokens/part-plan.ts";
import { type ModelPackage, readPackageText } from "../../package/package.ts";
import type { TokenTreeArchitecture } from "./facts.ts";

export async function openTokenizer(
  modelPackage: ModelPackage,
  { vocab }: TokenTreeArchitecture,
): Promise<PartTokenizer> {
  return openParts(await readPackageText(modelPackage, "tokenizer.json"), vocab);
}

/**
 * State, question and candidates are tokenized one by one: `[CLS] .. [SEP]`, `.. [SEP]`, `[CLS] .. [SEP]`.
 *
 * @param json       text of a tokenizer.json
 * @param vocabulary number of ids that the model knows, if known
 * @throws ServiceError INVALID_MODEL
 */
export async function openParts(json: string, vocabulary?: number): Promise<PartTokenizer> {
  const file = parseTokenizer(json);
  if (!hasClassPatternsOnly(file))
    throw invalid("has patterns of another kind than docs/models.md names, expected alternatives of classes");
  const library = await LibraryEncoder.open(file, vocabulary);
  const [cls, sep] = [library.idOf("[CLS]"), library.idOf("[SEP]")];
  library.idOf("[UNK]");
  const ofBoth = { before: [cls], after: [sep] };
  return new PartTokenizer(library, {
    state: ofBoth,
    question: { before: [], after: [sep] },
    candidate: ofBoth,
  });
}
