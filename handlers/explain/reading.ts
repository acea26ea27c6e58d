import type { ExplainedRequest } from "../../src/decisions/explain/explained.ts";
import type { ReadRequest, ReadText } from "../../src/inference/read-request.ts";
import type { TokenLimits } from "../../src/inference/tokens/tokenizer.ts";

/** What the model reads, as the contract writes it. */
export function readingOf(request: ExplainedRequest, read: ReadRequest, limits: TokenLimits) {
  const { state, questions } = request;
  const ofQuestions = questions.map(({ question, candidates }, at) => {
    const tokens = read.questions[at];
    const both = tokens?.stateQuestionTokens;
    const ofCandidates = candidates.map(({ label, text }, position) => {
      const { pairTokens = 0, ...reading } = tokens?.candidates[position] ?? NOTHING;
      return [label, { ...textOf(text, reading), pair_tokens: pairTokens }] as const;
    });
    return {
      instructions: textOf(question.text, tokens?.question ?? NOTHING),
      ...(both !== undefined && { state_question_tokens: both }),
      candidates: new Map(ofCandidates),
    };
  });
  return {
    state: textOf(state.text, read.state),
    ...named(request, ofQuestions),
    limits: {
      max_state_question_tokens: limits.maxStateQuestionTokens,
      max_candidate_tokens: limits.maxCandidateTokens,
    },
  };
}

/** What is said of each question: by its name, or of the only one of a ranking. */
function named<Reading>(request: ExplainedRequest, readings: readonly Reading[]) {
  const [only] = readings;
  if ("sent" in request) return only === undefined ? {} : { question: only };
  const { facts } = request;
  return { questions: new Map(readings.map((each, at) => [facts[at]?.name ?? "", each])) };
}

const NOTHING: ReadText & { readonly pairTokens?: number } = { tokens: [] };

function textOf(text: string, { tokens, wasCached }: ReadText) {
  return {
    text,
    tokens: tokens.map(({ id, text, source, isUnknown }) => ({
      id,
      text,
      ...(source !== undefined && { source }),
      is_unknown: isUnknown,
    })),
    ...(wasCached !== undefined && { was_kept: wasCached }),
  };
}
