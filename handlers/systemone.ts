import type { Handler } from "../src/contract/call.ts";
import { answerQuestions } from "../src/decisions/answers.ts";
import { readSystemone } from "../src/decisions/systemone.ts";
import { inferenceFacts } from "./inference-facts.ts";

/** Answers named questions about one state. */
export const systemone: Handler<"systemone"> = async ({ body, signal, arrivedAt }, { engine, clock }) => {
  const startedAt = clock.now();
  const request = await readSystemone(body, engine.model, { signal });
  const scored = await engine.score(request, signal, arrivedAt);
  const answers = answerQuestions(request.asked, scored.scores, engine.model.temperature);
  const { fields, headers } = inferenceFacts(engine.model, scored, clock.now() - startedAt);
  return { status: 200, headers, body: { answers, ...fields } };
};
