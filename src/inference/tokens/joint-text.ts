/** Separators between the texts of a pair. The model was trained with these (published with the GemmaDecision-270M weights): do not change them. */
const BLANK_LINE = "\n\n";
const HEADER = "\n\nCandidate action:\n";

/**
 * State and question as one text, in pieces. A blank text is left out together with its separator.
 *
 *     state ⏎⏎ instructions
 */
export function contextPieces(state: string, question: string): readonly string[] {
  if (state === "" || question === "") return [state, question].filter((text) => text !== "");
  return [state, BLANK_LINE, question];
}

/** Everything before the candidate; the same for all candidates of a question. */
export function promptPieces(state: string, question: string): readonly string[] {
  return [...contextPieces(state, question), HEADER];
}

/** A pair as one text, in pieces. */
export function pairPieces(state: string, question: string, candidate: string): readonly string[] {
  return [...promptPieces(state, question), candidate];
}
