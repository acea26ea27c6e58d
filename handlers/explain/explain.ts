import type { operations } from "../../generated/explain.ts";
import type { Handler } from "../../src/contract/call.ts";
import { readExplained } from "../../src/decisions/explain/explained.ts";
import { askedWithout, explainAnswers, explainRanking } from "../../src/decisions/explain/influence.ts";
import { readStateParts } from "../../src/decisions/explain/state-parts.ts";
import type { ScoredRequest } from "../../src/inference/ports.ts";
import { inferenceReply } from "../inference-reply.ts";
import { readingOf } from "./reading.ts";

/** Explains what the model reads of a request and, unless it is a dry run, what moved its answers. */
export const explain: Handler<"explain", operations> = async ({ body, signal, arrivedAt }, services) => {
  const { engine, clock } = services;
  const { limits, temperature, id } = engine.model;
  const startedAt = clock.now();
  const request = await readExplained(body, engine.model, { signal });
  // before the scores: what is in the cache of texts now
  const reading = readingOf(request, await engine.read(request, signal), limits);
  if (body.dry_run === true)
    return { status: 200, body: { ...reading, model: id, latency_ms: clock.now() - startedAt } };

  const parts = await readStateParts(body.state, limits.maxStateQuestionTokens, { signal });
  const requests = askedWithout(request, parts);
  const textLength = requests.reduce((sum, { state, questions }) => {
    const texts = [state, ...questions.flatMap(({ question, candidates }) => [question, ...candidates])];
    return sum + texts.reduce((length, { text }) => length + text.length, 0);
  }, 0);
  const tuned = engine.tuning?.match(requests.flatMap(({ questions }) => questions));
  const scoring = engine.scoreAll({ textLength, prepare: async () => requests }, signal, arrivedAt);
  const answer = ({ scores, vectors }: ScoredRequest) => {
    const own = tuned?.correct(scores, vectors) ?? scores;
    const explained =
      "sent" in request
        ? explainRanking(request.sent, parts, own, temperature)
        : explainAnswers(request.asked, parts, own, temperature);
    return { ...reading, ...explained };
  };
  const later = inferenceReply(scoring, startedAt, services, answer, tuned).then(
    ({ body: { probabilities_source: _, ...told }, ...reply }) => ({ ...reply, body: told }),
  );
  return { later };
};
