import type { operations } from "../../generated/rerank.ts";
import type { Inference } from "../../src/contract/call.ts";
import { answerRerank, documentResults, type RankingFacts, type Returned, readRerank } from "./ranking.ts";

/** Jina's rerank, version 1. `model` changes nothing. */
export const jinaRerank: Inference<"jinaRerank", RankingFacts<Returned>, operations> = {
  read(body, facts) {
    const { top_n: topN, max_doc_length: tokens, return_documents: isReturned } = body;
    const documents = body.documents.map((each) => (typeof each === "string" ? each : each.text));
    const request = {
      query: body.query,
      queryLoc: ["body", "query"],
      documents,
      documentsLoc: ["body", "documents"],
      cut: tokens == null ? undefined : { tokens, keepsEnd: false },
    };
    const texts = isReturned === false ? undefined : documents;
    return readRerank(request, facts, { topN, texts });
  },
  answer: (facts, scored, model) =>
    answerRerank(facts, scored, ({ ranked, inputTokens, warnings }, returned) => ({
      model: model.id,
      object: "list" as const,
      usage: { total_tokens: inputTokens, prompt_tokens: inputTokens },
      results: documentResults(ranked, returned),
      ...(warnings.length > 0 ? { warnings } : {}),
    })),
};
