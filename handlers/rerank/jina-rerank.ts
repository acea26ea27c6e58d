import type { operations } from "../../generated/rerank.ts";
import type { Handler } from "../../src/contract/call.ts";
import { documentResults } from "./document-results.ts";
import { rerankReply } from "./ranking.ts";

/** Jina's rerank, version 1. `model` changes nothing. */
export const jinaRerank: Handler<"jinaRerank", operations> = async (call, services) => {
  const { body } = call;
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
  const { id } = services.engine.model;
  return rerankReply(request, call, services, ({ ranked, inputTokens, warnings }) => ({
    model: id,
    object: "list" as const,
    usage: { total_tokens: inputTokens, prompt_tokens: inputTokens },
    results: documentResults(ranked, { topN, texts }),
    ...(warnings.length > 0 ? { warnings } : {}),
  }));
};
