/** A labelled row with the answer to one question. */
export interface Judged {
  /** Equal for rows with the same state. */
  readonly key: string;
  readonly truth: string;
  /** The most probable label. */
  readonly predicted: string;
  /** Its probability. */
  readonly confidence: number;
  /** The expected level of a score; undefined for other types. */
  readonly expectedLevel?: number | undefined;
}

export const isRight = ({ truth, predicted }: Judged) => truth === predicted;
export const rightOf = (rows: readonly Judged[]) => rows.filter(isRight).length;
