/** Tells how a model's tokenizer reads a text on its own, without special tokens. */
export interface TextReader {
  /** @returns [texts] */
  readTexts(texts: readonly string[]): Promise<readonly TextTokens[]>;
}

export interface TextTokens {
  readonly count: number;
  /**
   * [count] where each token ends: characters (Unicode code points) from the beginning of the text. All tokens of a
   * character end with it.
   */
  ends(): readonly number[];
}
