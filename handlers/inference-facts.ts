import type { ModelFacts, ScoredRequest } from "../src/inference/ports.ts";

/**
 * What both inference answers say beside the decisions, and their server-timing header.
 *
 * @param totalMs from the validated body to the answer
 * @see https://www.w3.org/TR/server-timing/ (durations in milliseconds)
 */
export function inferenceFacts(model: ModelFacts, scored: ScoredRequest, totalMs: number) {
  const { queue, tokenize, inference } = scored.timing;
  const timing = Object.entries({ queue, tokenize, inference, total: totalMs });
  return {
    fields: {
      usage: {
        input_tokens: scored.inputTokens,
        output_tokens: 0,
        total_tokens: scored.inputTokens,
        cached_pairs: scored.cachedPairs,
      },
      model: model.id,
      temperature: model.temperature,
      probabilities_source: "softmax_ranking_scores_external_temperature" as const,
      latency_ms: totalMs,
    },
    headers: { "server-timing": timing.map(([name, ms]) => `${name};dur=${ms.toFixed(3)}`).join(", ") },
  };
}
