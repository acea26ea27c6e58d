import type { operations } from "../../generated/rerank.ts";
import type { Handler } from "../../src/contract/call.ts";
import { rerankLimits } from "../../src/decisions/rerank/relevance.ts";
import { rerankReply } from "./ranking.ts";

/** Text Embeddings Inference's rerank. */
export const teiRerank: Handler<"teiRerank", operations> = async (call, services) => {
  const { body } = call;
  const { texts, raw_scores: isRaw, return_text: isReturned, truncation_direction: direction } = body;
  const tokens = rerankLimits(services.engine.model).maxPartTokens;
  const request = {
    query: body.query,
    queryLoc: ["body", "query"],
    documents: texts,
    documentsLoc: ["body", "texts"],
    cut: body.truncate === true ? { tokens, keepsEnd: direction?.toLowerCase() === "left" } : undefined,
  };
  const returned = isReturned === true ? texts : undefined;
  return rerankReply(request, call, services, ({ ranked }) =>
    ranked.map(({ index, relevance, raw }) => ({
      index,
      score: isRaw === true ? raw : relevance,
      ...(returned === undefined ? {} : { text: returned[index] ?? "" }),
    })),
  );
};
