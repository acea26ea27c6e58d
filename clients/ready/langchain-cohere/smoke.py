"""LangChain's CohereRerank: both operations, an error, a wrong key, a full queue, a timeout."""

from cohere.errors import (
    GatewayTimeoutError,
    ServiceUnavailableError,
    UnauthorizedError,
    UnprocessableEntityError,
)
from langchain_cohere import CohereRerank
from langchain_core.documents import Document
from ready import FULL_URL, KEY, SLOW_URL, URL, check, raised, report
from rerank_cases import DOCUMENTS, QUERY, check_rows, relevance


def reranker(url=URL, key=KEY, **more):
    return CohereRerank(model="rerank-v3.5", base_url=url, cohere_api_key=key, **more)


def rows(results):
    return [(row["index"], row["relevance_score"]) for row in results]


check_rows("rerank", rows(reranker().rerank(DOCUMENTS, QUERY, top_n=None)))
check("top_n", len(reranker(top_n=2).rerank(DOCUMENTS, QUERY)) == 2)
check("max_tokens_per_doc", len(reranker().rerank(DOCUMENTS, QUERY, top_n=None, max_tokens_per_doc=5)) == 4)
check("one document", len(reranker().rerank(DOCUMENTS[:1], QUERY)) == 1)
fields = reranker().rerank([{"title": "Rome", "text": "A town."}], "Where is Rome?", rank_fields=["text"])
body = "text: A town.\n"
check("rank_fields", abs(fields[0]["relevance_score"] - relevance(body.strip(), "Where is Rome?")) < 1e-12)
documents = [Document(page_content=text, metadata={"at": at}) for at, text in enumerate(DOCUMENTS)]
best = reranker(top_n=1).compress_documents(documents, QUERY)
check("compress_documents", best[0].metadata["at"] == 1)
check("its score", abs(best[0].metadata["relevance_score"] - relevance(DOCUMENTS[1])) < 1e-12)

refused = raised(lambda: reranker().rerank(DOCUMENTS, " "))
check("an error", isinstance(refused, UnprocessableEntityError) and "query" in refused.body["message"])
check("a wrong key", isinstance(raised(lambda: reranker(key="wrong").rerank(DOCUMENTS, QUERY)), UnauthorizedError))
full = raised(lambda: reranker(FULL_URL).rerank(DOCUMENTS, QUERY))
check("a full queue", isinstance(full, ServiceUnavailableError) and "queue is full" in full.body["message"])
late = raised(lambda: reranker(SLOW_URL).rerank(DOCUMENTS, QUERY))
check("a timeout of the service", isinstance(late, GatewayTimeoutError))
report()
