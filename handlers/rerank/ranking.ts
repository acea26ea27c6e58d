import type { Services } from "../../src/contract/call.ts";
import { type Relevance, type RerankRequest, relevanceJob } from "../../src/decisions/rerank/relevance.ts";
import { serverTiming } from "../inference-reply.ts";

/** What a dialect needs of a call. */
export interface RerankCall {
  readonly signal: AbortSignal;
  readonly arrivedAt?: number | undefined;
}

/** Documents by relevance, best first. */
export interface RankedDocuments {
  readonly ranked: readonly Relevance[];
  readonly inputTokens: number;
  /** What a caller who asked for it must know: that documents were cut. */
  readonly warnings: readonly string[];
}

/**
 * The reply of a rerank operation, sent when the scores are ready.
 *
 * @param answer computes the body
 * @throws ServiceError as `Engine.scoreAll`, and INVALID_REQUEST for a query that is blank or too long
 */
export function rerankReply<Body>(
  request: RerankRequest,
  { signal, arrivedAt }: RerankCall,
  { engine, clock }: Services,
  answer: (documents: RankedDocuments) => Body,
) {
  const startedAt = clock.now();
  const job = relevanceJob(request, engine.model);
  const reply = async () => {
    const scored = await engine.scoreAll(job, signal, arrivedAt);
    const cut = job.cutDocuments();
    const body = answer({
      ranked: job.relevances(scored.scores),
      inputTokens: scored.inputTokens,
      warnings: cut.length > 0 ? [warning(cut)] : [],
    });
    const headers = {
      "server-timing": serverTiming(scored, clock.now() - startedAt),
      "x-cut-documents": String(cut.length),
    };
    return { status: 200, headers, body };
  };
  return { later: reply() };
}

/** Chosen: positions that a warning names. */
const NAMED = 20;

function warning(cut: readonly number[]): string {
  const named = cut.slice(0, NAMED).join(", ");
  const more = cut.length > NAMED ? ` and ${cut.length - NAMED} more` : "";
  const documents = cut.length === 1 ? "1 document was" : `${cut.length} documents were`;
  return `${documents} cut as requested, at position ${named}${more}.`;
}
