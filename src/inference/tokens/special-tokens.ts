import { memberOf } from "../../records.ts";

/**
 * A tokenizer.json without its special tokens, so that what looks like one in a text is text: texts of others must not bring
 * separators of their own. The vocabulary keeps these tokens. Added tokens that the model lacks go, too: Gemma's tokenizer has
 * some for images, which text models lack.
 *
 * @param file       parsed tokenizer.json
 * @param vocabulary number of ids that the model knows, if known
 * @returns the added tokens that are left, and the text of the changed file; undefined if nothing is to be changed
 */
export function withoutSpecialTokens(
  file: unknown,
  vocabulary: number = Number.POSITIVE_INFINITY,
): { readonly left: readonly unknown[]; readonly json: string | undefined } {
  const added = memberOf(file, "added_tokens");
  if (!Array.isArray(added)) return { left: [], json: undefined };
  const left = added.filter((token) => {
    return memberOf(token, "special") !== true && Number(memberOf(token, "id")) < vocabulary;
  });
  if (left.length === added.length) return { left, json: undefined };
  return { left, json: JSON.stringify({ ...Object(file), added_tokens: left }) };
}
