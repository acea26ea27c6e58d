import type { Relevance } from "../../src/decisions/rerank/relevance.ts";

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
