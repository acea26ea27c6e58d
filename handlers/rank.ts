import type { Inference } from "../src/contract/call.ts";
import { rankCandidates, readRank, type SentCandidate } from "../src/decisions/rank.ts";
import { commonMembers } from "./systemone.ts";

/** Ranks candidates for one state and question. */
export const rank: Inference<"rank", readonly SentCandidate[]> = {
  async read(body, { model, signal }) {
    const { sent, ...request } = await readRank(body, model, { signal });
    return { texts: [request], facts: sent };
  },
  answer: (sent, scored, model) => ({
    body: {
      ranked: rankCandidates(sent, scored.scores[0], model.temperature),
      ...commonMembers(scored, model),
    },
  }),
};
