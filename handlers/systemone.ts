import type { Inference, Scored } from "../src/contract/call.ts";
import { answerQuestions } from "../src/decisions/answers.ts";
import { type QuestionFacts, readSystemone } from "../src/decisions/systemone.ts";
import type { ModelFacts } from "../src/inference/engine.ts";

/** Answers named questions about one state. */
export const systemone: Inference<"systemone", readonly QuestionFacts[]> = {
  async read(body, { model, signal }) {
    const { facts, ...request } = await readSystemone(body, model, { signal });
    return { texts: [request], facts };
  },
  answer: (facts, scored, model) => ({
    body: {
      answers: answerQuestions(facts, scored.scores, model.temperature),
      ...commonMembers(scored, model),
    },
  }),
};

/** The members that the answers of the plain contract share. */
export function commonMembers({ inputTokens, cachedPairs, latencyMs }: Scored, model: ModelFacts) {
  return {
    usage: {
      input_tokens: inputTokens,
      output_tokens: 0,
      total_tokens: inputTokens,
      cached_pairs: cachedPairs,
    },
    model: model.id,
    temperature: model.temperature,
    probabilities_source: "softmax_ranking_scores_external_temperature" as const,
    latency_ms: latencyMs,
  };
}
