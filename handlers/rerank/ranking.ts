import type { Answer, ReadFacts, Scored, Work } from "../../src/contract/call.ts";
import { type Relevance, type RerankRequest, relevanceJob } from "../../src/decisions/rerank/relevance.ts";
import type { ScoringJob } from "../../src/inference/engine.ts";

/** Documents by relevance, best first. */
export interface RankedDocuments {
  readonly ranked: readonly Relevance[];
  readonly inputTokens: number;
  /** What a caller who asked for it must know: that documents were cut. */
  readonly warnings: readonly string[];
}

/** What a rerank answer needs: its job, and what the dialect itself needs. */
export interface RankingFacts<Own> {
  readonly job: Pick<ReturnType<typeof relevanceJob>, "relevances" | "cutDocuments">;
  readonly own: Own;
}

/** @throws ServiceError INVALID_REQUEST for a query that is blank */
export function readRerank<Own>(
  request: RerankRequest,
  { model }: ReadFacts,
  own: Own,
): Work<RankingFacts<Own>> {
  const job = relevanceJob(request, model);
  return { texts: job satisfies ScoringJob, facts: { job, own } };
}

/** @param bodyOf the dialect's body */
export function answerRerank<Own, Body>(
  { job, own }: RankingFacts<Own>,
  { scores, inputTokens }: Scored,
  bodyOf: (documents: RankedDocuments, own: Own) => Body,
): { readonly body: Body; readonly headers: NonNullable<Answer<Body>["headers"]> } {
  const cut = job.cutDocuments();
  const warnings = cut.length > 0 ? [warning(cut)] : [];
  return {
    body: bodyOf({ ranked: job.relevances(scores), inputTokens, warnings }, own),
    headers: { "x-cut-documents": String(cut.length) },
  };
}

/** Chosen: positions that a warning names. */
const NAMED = 20;

function warning(cut: readonly number[]): string {
  const named = cut.slice(0, NAMED).join(", ");
  const more = cut.length > NAMED ? ` and ${cut.length - NAMED} more` : "";
  const documents = cut.length === 1 ? "1 document was" : `${cut.length} documents were`;
  return `${documents} cut as requested, at position ${named}${more}.`;
}

/** What an answer shows of the documents. */
export interface Returned {
  /** How many, at most. */
  readonly topN: number | null | undefined;
  /** Undefined: their texts are not repeated. */
  readonly texts: readonly string[] | undefined;
}

/** The best documents as Cohere and Jina show them. */
export function documentResults(ranked: readonly Relevance[], { topN, texts }: Returned) {
  return ranked.slice(0, topN ?? ranked.length).map(({ index, relevance }) => ({
    index,
    relevance_score: relevance,
    ...(texts === undefined ? {} : { document: { text: texts[index] ?? "" } }),
  }));
}
