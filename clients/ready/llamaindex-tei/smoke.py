"""LlamaIndex's reranker for TEI: its operation, an error, a wrong key, a full queue, timeouts.

It never looks at the status: an error body ends in a TypeError or an AssertionError, which says nothing. So the error bodies are
read beside it.
"""

import httpx
from llama_index.postprocessor.tei_rerank import TextEmbeddingInference
from llamaindex_cases import rerank
from ready import FULL_URL, KEY, SLOW_URL, URL, check, raised, report
from rerank_cases import DOCUMENTS, QUERY, check_rows


def reranker(url=URL, token=KEY, top_n=4, **more):
    return TextEmbeddingInference(base_url=url, auth_token=token, top_n=top_n, **more)


def told(url=URL, token=KEY, query=QUERY):
    check("the client fails", isinstance(raised(lambda: rerank(reranker(url, token), query=query)), (AssertionError, TypeError)))
    body = {"query": query, "texts": DOCUMENTS}
    answer = httpx.post(f"{url}/rerank", json=body, headers={"authorization": token}, timeout=60)
    return answer.status_code, answer.json()["error_type"]


check_rows("the key alone", rerank(reranker()))
check_rows("a bearer key", rerank(reranker(token=f"Bearer {KEY}")))
check_rows("a key from a function", rerank(reranker(token=lambda url: KEY)))
check("top_n", len(rerank(reranker(top_n=2))) == 2)
check("an error", told(query=" ") == (422, "validation"))
check("a wrong key", told(token="wrong") == (401, "unauthorized"))
check("a full queue", told(FULL_URL) == (429, "overloaded"))
check("a timeout of the service", told(SLOW_URL) == (504, "overloaded"))
late = raised(lambda: rerank(reranker(SLOW_URL, timeout=0.05)))
check("a timeout of the client", isinstance(late, httpx.TimeoutException))
info = httpx.get(f"{URL}/info").json()
check("the model", info["model_id"] != "" and info["max_client_batch_size"] == 1000)
report()
