import type { SystemoneRequest } from "../../src/decisions/systemone.ts";
import type { ReadRequest, ReadText, TokenLimits } from "../../src/inference/ports.ts";

/** What the model reads, as the contract writes it. */
export function readingOf(
  { state, questions, asked }: SystemoneRequest,
  read: ReadRequest,
  limits: TokenLimits,
) {
  const ofQuestions = questions.map(({ question, candidates }, at) => {
    const tokens = read.questions[at];
    const ofCandidates = candidates.map(({ label, text }, position) => {
      const { pairTokens = 0, ...told } = tokens?.candidates[position] ?? NOTHING;
      return [label, { ...textOf(text, told), pair_tokens: pairTokens }] as const;
    });
    return [
      asked[at]?.name ?? "",
      {
        instructions: textOf(question.text, tokens?.question ?? NOTHING),
        state_question_tokens: tokens?.stateQuestionTokens ?? 0,
        candidates: new Map(ofCandidates),
      },
    ] as const;
  });
  return {
    state: textOf(state.text, read.state),
    questions: new Map(ofQuestions),
    limits: {
      max_state_question_tokens: limits.maxStateQuestionTokens,
      max_candidate_tokens: limits.maxCandidateTokens,
    },
  };
}

const NOTHING: ReadText & { readonly pairTokens?: number } = { tokens: [] };

function textOf(text: string, { tokens, wasKept }: ReadText) {
  return {
    text,
    tokens: tokens.map(({ id, text, source, isUnknown }) => ({
      id,
      text,
      ...(source !== undefined && { source }),
      is_unknown: isUnknown,
    })),
    ...(wasKept !== undefined && { was_kept: wasKept }),
  };
}
