import type { operations } from "../../generated/rerank.ts";
import type { Inference } from "../../src/contract/call.ts";
import { answerRerank, documentResults, type RankingFacts, type Returned, readRerank } from "./ranking.ts";

type Facts = RankingFacts<Returned & { readonly requestId: string }>;

/** Cohere's rerank, version 2. `priority` and `model` change nothing. */
export const cohereRerank: Inference<"cohereRerank", Facts, operations> = {
  read(body, facts) {
    const { documents, top_n: topN, max_tokens_per_doc: tokens, return_documents: isReturned } = body;
    const request = {
      query: body.query,
      queryLoc: ["body", "query"],
      documents,
      documentsLoc: ["body", "documents"],
      cut: tokens == null ? undefined : { tokens, keepsEnd: false },
    };
    const texts = isReturned === true ? documents : undefined;
    return readRerank(request, facts, { requestId: facts.requestId, topN, texts });
  },
  answer: (facts, scored) =>
    answerRerank(facts, scored, ({ ranked, inputTokens, warnings }, { requestId, ...returned }) => ({
      id: requestId,
      results: documentResults(ranked, returned),
      meta: {
        api_version: { version: "2" as const },
        tokens: { input_tokens: inputTokens, output_tokens: 0 },
        ...(warnings.length > 0 ? { warnings } : {}),
      },
    })),
};
