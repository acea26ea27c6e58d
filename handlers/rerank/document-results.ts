import type { Relevance } from "../../src/decisions/rerank/relevance.ts";

/** The best documents as Cohere and Jina show them. @param texts of the documents, where they are to be returned */
export function documentResults(
  ranked: readonly Relevance[],
  {
    topN,
    texts,
  }: { readonly topN: number | null | undefined; readonly texts: readonly string[] | undefined },
) {
  return ranked.slice(0, topN ?? ranked.length).map(({ index, relevance }) => ({
    index,
    relevance_score: relevance,
    ...(texts === undefined ? {} : { document: { text: texts[index] ?? "" } }),
  }));
}
