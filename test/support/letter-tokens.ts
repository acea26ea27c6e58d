import type { TextTokens } from "../../src/decisions/request.ts";

/** Tokens of texts for a tokenizer that makes one of each character. */
export async function readLetters(texts: readonly string[]): Promise<readonly TextTokens[]> {
  return texts.map((text) => {
    const count = [...text].length;
    return { count, ends: () => Array.from({ length: count }, (_, at) => at + 1) };
  });
}

/** Each token by its number. */
export async function spellIds(_role: string, _text: string, ids: Int32Array) {
  return Array.from(ids, (id) => ({ id, text: String(id), isUnknown: false }));
}
