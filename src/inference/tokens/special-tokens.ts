import { memberOf } from "../../records.ts";

/** A tokenizer.json in which no text can become a special token, whatever it looks like. */
export interface PlainTokenizerFile {
  readonly json: string;
  /** The added tokens that texts may contain, with the ids that they must keep. */
  readonly added: ReadonlyMap<string, number>;
  /** The special tokens by their ids. */
  readonly special: ReadonlyMap<number, string>;
}

/**
 * A tokenizer.json without its special tokens: texts of others must not bring separators of their own. Every special
 * token gets a spelling with a blank in front, which no text has after its blanks are replaced or split away. The other
 * added tokens are written into the vocabulary, because the library counts the ids of those that it lacks from the end
 * of the vocabulary, and would move them if some were gone. Added tokens that the model lacks go, too: Gemma's
 * tokenizer has some for images, which text models lack.
 *
 * @param file       parsed tokenizer.json; not changed
 * @param vocabulary number of ids that the model knows, if known
 */
export function plainTokenizerFile(
  file: unknown,
  vocabulary: number = Number.POSITIVE_INFINITY,
): PlainTokenizerFile {
  const added = memberOf(file, "added_tokens");
  const tokens = (Array.isArray(added) ? added : []).flatMap((token: unknown) => {
    const [text, id] = [memberOf(token, "content"), Number(memberOf(token, "id"))];
    const isSpecial = memberOf(token, "special") === true;
    return typeof text === "string" && id < vocabulary ? [{ token, text, id, isSpecial }] : [];
  });
  const model = memberOf(file, "model");
  const words = memberOf(model, "vocab");
  const vocab = Array.isArray(words)
    ? listed(words, tokens, memberOf(model, "unk_id"))
    : named(words, tokens, memberOf(model, "unk_token"));
  const left = tokens.filter(({ isSpecial }) => !isSpecial);
  return {
    json: JSON.stringify({
      ...Object(file),
      added_tokens: left.map(({ token }) => token),
      model: { ...Object(model), vocab },
    }),
    added: new Map(left.map(({ text, id }) => [text, id])),
    special: new Map(tokens.flatMap(({ text, id, isSpecial }) => (isSpecial ? [[id, text]] : []))),
  };
}

interface AddedToken {
  readonly text: string;
  readonly id: number;
  readonly isSpecial: boolean;
}

const unreachable = (text: string) => ` ${text}`;

/** A vocabulary of pieces with their scores, by id. */
function listed(words: readonly unknown[], tokens: readonly AddedToken[], unknownId: unknown) {
  const special = new Map(
    tokens.filter(({ isSpecial, id }) => isSpecial && id !== unknownId).map(({ id, text }) => [id, text]),
  );
  return words.map((word, id) => {
    const text = special.get(id);
    return text !== undefined && Array.isArray(word) && word[0] === text
      ? [unreachable(text), ...word.slice(1)]
      : word;
  });
}

/** A vocabulary of ids by word. */
function named(words: unknown, tokens: readonly AddedToken[], unknown: unknown) {
  const ids: Record<string, unknown> = { ...Object(words) };
  for (const { text, id, isSpecial } of tokens) {
    if (!isSpecial) ids[text] ??= id;
    else if (text !== unknown) {
      delete ids[text];
      ids[unreachable(text)] = id;
    }
  }
  return ids;
}
