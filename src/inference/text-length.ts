import type { RenderedRequest } from "../decisions/rendered.ts";
import type { TokenLimits } from "./ports.ts";

/** Characters of a token, at most on average: a text with more of them than its limit allows will be refused for its tokens. Chosen. */
const LONGEST_TOKEN = 8;

/** What admission goes by, in UTF-16 code units; a text that is too long counts as one of the greatest length that may be taken. */
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
