import type { Handler, Reply, Services } from "../src/contract/call.ts";
import { answerQuestions } from "../src/decisions/answers.ts";
import { type AskedQuestion, readSystemone } from "../src/decisions/systemone.ts";
import type { ScoredRequest } from "../src/inference/ports.ts";
import { inferenceFacts } from "./inference-facts.ts";

/** Answers named questions about one state. */
export const systemone: Handler<"systemone"> = async ({ body, signal, arrivedAt }, services) => {
  const { engine, clock } = services;
  const startedAt = clock.now();
  const request = await readSystemone(body, engine.model, { signal });
  return { later: answer(request.asked, engine.score(request, signal, arrivedAt), startedAt, services) };
};

async function answer(
  asked: readonly AskedQuestion[],
  scoring: Promise<ScoredRequest>,
  startedAt: number,
  { engine, clock }: Services,
): Promise<Reply<"systemone">> {
  const scored = await scoring;
  const answers = answerQuestions(asked, scored.scores, engine.model.temperature);
  const { fields, headers } = inferenceFacts(engine.model, scored, clock.now() - startedAt);
  return { status: 200, headers, body: { answers, ...fields } };
}
