import type { Scored } from "../src/contract/call.ts";
import type { ModelFacts } from "../src/inference/engine.ts";

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
