import type { operations } from "../../generated/typesafe.ts";
import type { Handler } from "../../src/contract/call.ts";
import { joinScores, splitRequest } from "../../src/decisions/parts.ts";
import { answerTypesafe } from "../../src/decisions/typesafe/answers.ts";
import { readTypesafe } from "../../src/decisions/typesafe/request.ts";
import { scoreInParts } from "../../src/inference/score-in-parts.ts";
import { serverTiming } from "../inference-reply.ts";

/** Answers named questions about one state, in as many calls of the engine as its limits require. */
export const typesafeSystemone: Handler<"typesafeSystemone", operations> = async (
  { body, signal, arrivedAt },
  services,
) => {
  const { engine, clock, modelNames } = services;
  const startedAt = clock.now();
  const model = { ...engine.model, aliases: [...engine.model.aliases, ...modelNames] };
  const request = await readTypesafe(body, model, { signal });
  const { asked } = request;
  const parts = splitRequest(request);
  const counts = request.questions.map(({ candidates }) => candidates.length);
  const slices = parts.map((part) => ({ slices: part.slices }));
  const scoring = scoreInParts(
    services,
    parts.map((part) => part.request),
    signal,
    arrivedAt,
  );
  const later = scoring.then((scored) => ({
    status: 200,
    headers: { "server-timing": serverTiming(scored, clock.now() - startedAt) },
    body: {
      model: engine.model.id,
      answers: answerTypesafe(asked, joinScores(slices, counts, scored.scores), engine.model.temperature),
      usage: { input_tokens: scored.inputTokens, output_tokens: 0 },
    },
  }));
  return { later };
};
