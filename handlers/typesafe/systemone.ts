import type { operations } from "../../generated/typesafe.ts";
import type { Handler } from "../../src/contract/call.ts";
import { joinScores, joinVectors, splitRequest } from "../../src/decisions/parts.ts";
import { answerTypesafe } from "../../src/decisions/typesafe/answers.ts";
import { readTypesafe } from "../../src/decisions/typesafe/request.ts";
import { scoreInParts } from "../../src/inference/score-in-parts.ts";
import { serverTiming, tuningHeader } from "../inference-reply.ts";

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
  const tuned = engine.tuning?.match(request.questions);
  const slices = parts.map((part) => ({ slices: part.slices }));
  const scoring = scoreInParts(
    services,
    parts.map((part) => part.request),
    signal,
    arrivedAt,
  );
  const later = scoring.then((scored) => {
    const raw = joinScores(slices, counts, scored.scores);
    const own = tuned?.correct(raw, joinVectors(slices, counts, scored.vectors)) ?? raw;
    return {
      status: 200,
      headers: { "server-timing": serverTiming(scored, clock.now() - startedAt), ...tuningHeader(tuned) },
      body: {
        model: engine.model.id,
        answers: answerTypesafe(asked, own, engine.model.temperature),
        usage: { input_tokens: scored.inputTokens, output_tokens: 0 },
      },
    };
  });
  return { later };
};
