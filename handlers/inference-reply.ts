import type { InferenceFacts, Services } from "../src/contract/call.ts";
import type { ModelFacts, ScoredRequest, TunedRequest } from "../src/inference/ports.ts";

/**
 * The reply of an inference operation, sent when the scores are ready. While it waits, it holds nothing of the request except
 * what `answer` holds.
 *
 * @param startedAt time when the body had been validated
 * @param answer    computes the members that are specific to the operation
 * @param tuned     the corrections that `answer` applies
 */
export async function inferenceReply<Answer extends object>(
  scoring: Promise<ScoredRequest>,
  startedAt: number,
  { engine, clock }: Services,
  answer: (scored: ScoredRequest) => Answer,
  tuned?: TunedRequest,
) {
  const scored = await scoring;
  const own = answer(scored);
  const { fields, headers } = inferenceFacts(engine.model, scored, clock.now() - startedAt);
  return {
    status: 200,
    headers: { ...headers, ...tuningHeader(tuned) },
    body: { ...own, ...fields },
    inference: factsOf(scored, startedAt),
  };
}

function factsOf(
  { scores, inputTokens, cachedPairs, timing }: ScoredRequest,
  startedAt: number,
): InferenceFacts {
  const pairs = scores.reduce((sum, { length }) => sum + length, 0);
  return { questions: scores.length, pairs, inputTokens, cachedPairs, timing, startedAt };
}

/**
 * The common members of both inference answers, and their server-timing header.
 *
 * @param totalMs from the validated body to the answer
 * @see https://www.w3.org/TR/server-timing/ (durations in milliseconds)
 */
function inferenceFacts(model: ModelFacts, scored: ScoredRequest, totalMs: number) {
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
    headers: { "server-timing": serverTiming(scored, totalMs) },
  };
}

/** Names the corrections of an answer; nothing where there is none. */
export function tuningHeader(tuned: TunedRequest | undefined): Readonly<Record<string, string>> {
  return tuned === undefined ? {} : { "x-decision-tuning": tuned.ids.join(", ") };
}

/** @param totalMs from the validated body to the answer */
export function serverTiming({ timing }: Pick<ScoredRequest, "timing">, totalMs: number): string {
  const { queue, tokenize, inference } = timing;
  return Object.entries({ queue, tokenize, inference, total: totalMs })
    .map(([name, ms]) => `${name};dur=${ms.toFixed(3)}`)
    .join(", ");
}
