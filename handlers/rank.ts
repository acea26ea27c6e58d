import type { Handler } from "../src/contract/call.ts";
import { readRank } from "../src/decisions/rank.ts";
import { rankCandidates } from "../src/decisions/ranking.ts";
import { inferenceReply } from "./inference-reply.ts";

/** Ranks candidates for one state and question. */
export const rank: Handler<"rank"> = async ({ body, signal, arrivedAt }, services) => {
  const { engine, clock } = services;
  const startedAt = clock.now();
  const request = await readRank(body, engine.model, { signal });
  const { sent } = request;
  const scoring = engine.score(request, signal, arrivedAt);
  const later = inferenceReply(scoring, startedAt, services, ({ scores }) => ({
    ranked: rankCandidates(sent, scores[0], engine.model.temperature),
  }));
  return { later };
};
