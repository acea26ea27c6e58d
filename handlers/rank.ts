import type { Handler } from "../src/contract/call.ts";
import { readRank } from "../src/decisions/rank.ts";
import { rankCandidates } from "../src/decisions/ranking.ts";
import { inferenceFacts } from "./inference-facts.ts";

/** Ranks candidates for one state and question. */
export const rank: Handler<"rank"> = async ({ body, signal, arrivedAt }, { engine, clock }) => {
  const startedAt = clock.now();
  const request = await readRank(body, engine.model, { signal });
  const scored = await engine.score(request, signal, arrivedAt);
  const ranked = rankCandidates(request.sent, scored.scores[0], engine.model.temperature);
  const { fields, headers } = inferenceFacts(engine.model, scored, clock.now() - startedAt);
  return { status: 200, headers, body: { ranked, ...fields } };
};
