"""LlamaIndex's CohereRerank: its operation, an error, a wrong key, a full queue, a timeout."""

from cohere.errors import (
    GatewayTimeoutError,
    ServiceUnavailableError,
    UnauthorizedError,
    UnprocessableEntityError,
)
from llama_index.postprocessor.cohere_rerank import CohereRerank
from llamaindex_cases import rerank
from ready import FULL_URL, KEY, SLOW_URL, URL, check, raised, report
from rerank_cases import check_rows


def reranker(url=URL, key=KEY, top_n=4):
    # One try: it would wait 4 to 10 seconds before each of nine more.
    return CohereRerank(base_url=url, api_key=key, top_n=top_n, max_retries=1)


check_rows("rerank", rerank(reranker()))
check("top_n", len(rerank(reranker(top_n=2))) == 2)
refused = raised(lambda: rerank(reranker(), query=" "))
check("an error", isinstance(refused, UnprocessableEntityError) and "query" in refused.body["message"])
check("a wrong key", isinstance(raised(lambda: rerank(reranker(key="wrong"))), UnauthorizedError))
full = raised(lambda: rerank(reranker(FULL_URL)))
check("a full queue", isinstance(full, ServiceUnavailableError) and "queue is full" in full.body["message"])
check("a timeout of the service", isinstance(raised(lambda: rerank(reranker(SLOW_URL))), GatewayTimeoutError))
report()
