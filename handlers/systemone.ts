import type { Handler } from "../src/contract/call.ts";
import { answerQuestions } from "../src/decisions/answers.ts";
import { readSystemone } from "../src/decisions/systemone.ts";
import { inferenceReply } from "./inference-reply.ts";

/** Answers named questions about one state. */
export const systemone: Handler<"systemone"> = async ({ body, signal, arrivedAt }, services) => {
  const { engine, clock } = services;
  const startedAt = clock.now();
  const request = await readSystemone(body, engine.model, { signal });
  const { asked } = request;
  const scoring = engine.score(request, signal, arrivedAt);
  const later = inferenceReply(scoring, startedAt, services, ({ scores }) => ({
    answers: answerQuestions(asked, scores, engine.model.temperature),
  }));
  return { later };
};
