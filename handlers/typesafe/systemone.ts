import type { operations } from "../../generated/typesafe.ts";
import type { Handler } from "../../src/contract/call.ts";
import { joinScores, joinVectors, type RequestPart, splitRequest } from "../../src/decisions/parts.ts";
import { answerTypesafe } from "../../src/decisions/typesafe/answers.ts";
import { readTypesafe } from "../../src/decisions/typesafe/request.ts";
import type { Engine, ScoredRequest } from "../../src/inference/ports.ts";
import { textLengthOf } from "../../src/inference/text-length.ts";
import { serverTiming, tuningHeader } from "../inference-reply.ts";

/** Of a request whose questions have one candidate each. */
const NOTHING: ScoredRequest = {
  scores: [],
  inputTokens: 0,
  cachedPairs: 0,
  timing: { queue: 0, tokenize: 0, inference: 0 },
};

/** Answers named questions about one state, in as many parts as the engine's limits require. */
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
  const slices = parts.flatMap((part) => part.slices);
  const scoring = scoreParts(parts, engine, signal, arrivedAt);
  const later = scoring.then((scored) => {
    const raw = joinScores(slices, counts, scored.scores);
    const own = tuned?.correct(raw, joinVectors(slices, counts, scored.vectors ?? [])) ?? raw;
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

/** @returns [questions of all parts] the scores; the texts are not held until they are there */
async function scoreParts(
  parts: readonly RequestPart[],
  engine: Engine,
  signal: AbortSignal,
  arrivedAt: number | undefined,
): Promise<ScoredRequest> {
  const [first] = parts;
  if (first === undefined) return NOTHING;
  if (parts.length === 1) return engine.score(first.request, signal, arrivedAt);
  const requests = parts.map(({ request }) => request);
  const textLength = requests.reduce((sum, one) => sum + textLengthOf(one, engine.model.limits), 0);
  return engine.scoreAll({ textLength, prepare: async () => requests }, signal, arrivedAt);
}
