/** A labelled row with the answer to one question. */
export interface Judged {
  /** Same for rows with the same state. */
  readonly key: string;
  readonly truth: string;
  /** The most probable label. */
  readonly predicted: string;
  /** Its probability. */
  readonly confidence: number;
  /** Of a score: the expected level. */
  readonly expectedLevel?: number | undefined;
}

export const isRight = ({ truth, predicted }: Judged) => truth === predicted;
export const rightOf = (rows: readonly Judged[]) => rows.filter(isRight).length;
