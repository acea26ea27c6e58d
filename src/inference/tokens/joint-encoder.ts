import { Tokenizer as LibraryTokenizer } from "tokenizers";
import type { TextTokens } from "../../decisions/request.ts";
import { ServiceError } from "../../errors.ts";
import { EncodedTexts } from "./encoded-texts.ts";
import { readVocabulary, type VocabularyFacts } from "./gemma-vocabulary.ts";
import { withoutSpecialTokens } from "./special-tokens.ts";
import { textTokensOf } from "./tokenizer.ts";

const WITHOUT_SPECIAL_TOKENS = { addSpecialTokens: false };

/** A tokenizer of Gemma's kind. Texts are given in pieces, and tokenized as their concatenation. */
export class JointEncoder {
  readonly facts: VocabularyFacts;
  readonly #library: LibraryTokenizer;

  /**
   * @param json       text of a tokenizer.json
   * @param vocabulary number of ids that the model knows, if known
   * @throws ServiceError INVALID_MODEL for a tokenizer.json of another kind
   */
  constructor(json: string, vocabulary: number | undefined) {
    try {
      const file: unknown = JSON.parse(json);
      this.facts = readVocabulary(file);
      this.#library = LibraryTokenizer.fromString(withoutSpecialTokens(file, vocabulary).json ?? json);
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause;
      throw new ServiceError("INVALID_MODEL", "tokenizer.json cannot be read as a tokenizer.", { cause });
    }
    this.#library.disableTruncation();
    this.#library.disablePadding();
  }

  /** Tokens of the texts of one request; common segments are tokenized once. */
  open(signal: AbortSignal): EncodedTexts {
    const encode = (texts: readonly string[]) =>
      this.#library.encodeBatch([...texts], WITHOUT_SPECIAL_TOKENS);
    const { separatesNewlines } = this.facts;
    return new EncodedTexts({ encode, separatesNewlines, signal });
  }

  async readTexts(texts: readonly string[]): Promise<readonly TextTokens[]> {
    return (await this.#library.encodeBatch([...texts], WITHOUT_SPECIAL_TOKENS)).map(textTokensOf);
  }

  /** A token as the vocabulary spells it. */
  tokenText(id: number): string {
    return this.#library.idToToken(id) ?? "";
  }

  /**
   * A lower bound for the number of tokens of a text, from its length alone. So a text of 2 MiB is refused without tokenizing it.
   *
   * @param units UTF-16 code units
   */
  fewestTokens(units: number): number {
    return Math.ceil(units / this.facts.longestToken);
  }
}
