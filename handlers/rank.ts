import type { Handler, Reply, Services } from "../src/contract/call.ts";
import { readRank, type SentCandidate } from "../src/decisions/rank.ts";
import { rankCandidates } from "../src/decisions/ranking.ts";
import type { ScoredRequest } from "../src/inference/ports.ts";
import { inferenceFacts } from "./inference-facts.ts";

/** Ranks candidates for one state and question. */
export const rank: Handler<"rank"> = async ({ body, signal, arrivedAt }, services) => {
  const { engine, clock } = services;
  const startedAt = clock.now();
  const request = await readRank(body, engine.model, { signal });
  return { later: answer(request.sent, engine.score(request, signal, arrivedAt), startedAt, services) };
};

async function answer(
  sent: readonly SentCandidate[],
  scoring: Promise<ScoredRequest>,
  startedAt: number,
  { engine, clock }: Services,
): Promise<Reply<"rank">> {
  const scored = await scoring;
  const ranked = rankCandidates(sent, scored.scores[0], engine.model.temperature);
  const { fields, headers } = inferenceFacts(engine.model, scored, clock.now() - startedAt);
  return { status: 200, headers, body: { ranked, ...fields } };
}
