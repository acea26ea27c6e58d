import type { operations } from "../../generated/rerank.ts";
import type { Handler } from "../../src/contract/call.ts";
import { documentResults } from "./document-results.ts";
import { rerankReply } from "./ranking.ts";

/** Cohere's rerank, version 2. `priority` and `model` change nothing. */
export const cohereRerank: Handler<"cohereRerank", operations> = async (call, services) => {
  const { body, requestId } = call;
  const { documents, top_n: topN, max_tokens_per_doc: tokens, return_documents: isReturned } = body;
  const request = {
    query: body.query,
    queryLoc: ["body", "query"],
    documents,
    documentsLoc: ["body", "documents"],
    cut: tokens == null ? undefined : { tokens, keepsEnd: false },
  };
  const texts = isReturned === true ? documents : undefined;
  return rerankReply(request, call, services, ({ ranked, inputTokens, warnings }) => ({
    id: requestId,
    results: documentResults(ranked, { topN, texts }),
    meta: {
      api_version: { version: "2" as const },
      tokens: { input_tokens: inputTokens, output_tokens: 0 },
      ...(warnings.length > 0 ? { warnings } : {}),
    },
  }));
};
