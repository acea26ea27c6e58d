import type { Handler } from "../src/contract/call.ts";
import { answerQuestions } from "../src/decisions/answers.ts";
import { readSystemone } from "../src/decisions/systemone.ts";
import type { ScoredRequest } from "../src/inference/ports.ts";
import { inferenceReply } from "./inference-reply.ts";

/** Answers named questions about one state. */
export const systemone: Handler<"systemone"> = async ({ body, signal, arrivedAt }, services) => {
  const { engine, clock } = services;
  const startedAt = clock.now();
  const request = await readSystemone(body, engine.model, { signal });
  const { asked } = request;
  const tuned = engine.tuning?.match(request.questions);
  const scoring = engine.score(request, signal, arrivedAt);
  const answer = ({ scores, vectors }: ScoredRequest) => {
    const own = tuned?.correct(scores, vectors) ?? scores;
    return { answers: answerQuestions(asked, own, engine.model.temperature) };
  };
  const later = inferenceReply(scoring, startedAt, services, answer, tuned);
  return { later };
};
