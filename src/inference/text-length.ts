import type { RenderedRequest } from "../decisions/rendered.ts";
import type { TokenLimits } from "./tokens/tokenizer.ts";

/** Assumed maximum of the average number of characters per token. Longer texts will be refused for their tokens anyway. Chosen. */
const LONGEST_TOKEN = 8;

/** Length of a request's texts for admission, in UTF-16 code units. A too long text counts with its maximum length. */
export function textLengthOf(
  { state, questions }: RenderedRequest,
  { maxStateQuestionTokens, maxCandidateTokens }: TokenLimits,
): number {
  const lengthOf = (text: string, mostTokens: number) => Math.min(text.length, mostTokens * LONGEST_TOKEN);
  return questions.reduce(
    (sum, { question, candidates }) =>
      candidates.reduce(
        (below, { text }) => below + lengthOf(text, maxCandidateTokens),
        sum + lengthOf(question.text, maxStateQuestionTokens),
      ),
    lengthOf(state.text, maxStateQuestionTokens),
  );
}
