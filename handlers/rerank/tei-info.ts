import { availableParallelism } from "node:os";
import type { operations } from "../../generated/rerank.ts";
import type { Handler } from "../../src/contract/call.ts";
import { rerankLimits } from "../../src/decisions/rerank/relevance.ts";

/** Documents of a request, as the contract says. */
const MAX_DOCUMENTS = 1_000;

/** The served model as Text Embeddings Inference describes its own. */
export const teiInfo: Handler<"teiInfo", operations> = async ({ engine, version }) => {
  const { model } = engine;
  const { precision, settings } = engine.health();
  return {
    status: 200,
    body: {
      model_id: model.id.slice(0, model.id.lastIndexOf("@")),
      model_sha: model.revision,
      model_dtype: precision,
      model_type: { reranker: { id2label: { "0": "relevance" }, label2id: { relevance: 0 } } },
      max_concurrent_requests: settings.queueCapacity,
      max_input_length: rerankLimits(model).maxPartTokens,
      max_batch_tokens: settings.maxBatchTokens,
      max_batch_requests: settings.maxBatchRequests,
      max_client_batch_size: MAX_DOCUMENTS,
      auto_truncate: false,
      tokenization_workers: availableParallelism(),
      version,
      sha: null,
      docker_label: null,
    },
  };
};
