import { Tokenizer as LibraryTokenizer } from "tokenizers";
import { ServiceError } from "../errors.ts";
import { EncodedTexts } from "./encoded-texts.ts";
import { readVocabulary, type VocabularyFacts } from "./gemma-vocabulary.ts";

const WITHOUT_SPECIAL_TOKENS = { addSpecialTokens: false };

/** A tokenizer of Gemma's kind, for whole texts that are given in pieces. */
export class JointEncoder {
  readonly facts: VocabularyFacts;
  readonly #library: LibraryTokenizer;

  /**
   * @param json text of a tokenizer.json
   * @throws ServiceError INVALID_MODEL for one of another kind
   */
  constructor(json: string) {
    try {
      this.facts = readVocabulary(JSON.parse(json));
      this.#library = LibraryTokenizer.fromString(json);
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause;
      throw new ServiceError("INVALID_MODEL", "The model's tokenizer.json cannot be read.", { cause });
    }
    this.#library.disableTruncation();
    this.#library.disablePadding();
  }

  /** For the texts of one request: what they have in common is tokenized once. */
  open(signal: AbortSignal): EncodedTexts {
    const encode = (texts: readonly string[]) =>
      this.#library.encodeBatch([...texts], WITHOUT_SPECIAL_TOKENS);
    return new EncodedTexts(encode, this.facts.separatesNewlines, signal);
  }

  /**
   * A lower bound of a text's tokens by its length alone, so that a text of 2 MiB is refused unseen.
   *
   * @param units UTF-16 code units
   */
  fewestTokens(units: number): number {
    return Math.ceil(units / this.facts.longestToken);
  }
}
