import type { operations } from "../../generated/rerank.ts";
import type { Inference } from "../../src/contract/call.ts";
import { rerankLimits } from "../../src/decisions/rerank/relevance.ts";
import { answerRerank, type RankingFacts, readRerank } from "./ranking.ts";

interface Own {
  readonly isRaw: boolean;
  /** Undefined: the answer does not repeat them. */
  readonly texts: readonly string[] | undefined;
}

/** Text Embeddings Inference's rerank. */
export const teiRerank: Inference<"teiRerank", RankingFacts<Own>, operations> = {
  read(body, facts) {
    const { texts, raw_scores: isRaw, return_text: isReturned, truncation_direction: direction } = body;
    const tokens = rerankLimits(facts.model).maxPartTokens;
    const request = {
      query: body.query,
      queryLoc: ["body", "query"],
      documents: texts,
      documentsLoc: ["body", "texts"],
      cut: body.truncate === true ? { tokens, keepsEnd: direction?.toLowerCase() === "left" } : undefined,
    };
    const returned = isReturned === true ? texts : undefined;
    return readRerank(request, facts, { isRaw: isRaw === true, texts: returned });
  },
  answer: (facts, scored) =>
    answerRerank(facts, scored, ({ ranked }, { isRaw, texts }) =>
      ranked.map(({ index, relevance, raw }) => ({
        index,
        score: isRaw ? raw : relevance,
        ...(texts === undefined ? {} : { text: texts[index] ?? "" }),
      })),
    ),
};
