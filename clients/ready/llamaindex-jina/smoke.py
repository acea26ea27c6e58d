"""LlamaIndex's JinaRerank: its operation, an error, a wrong key, a full queue, a timeout. It has no timeout of its own."""

from llama_index.postprocessor.jinaai_rerank import JinaRerank
from llamaindex_cases import rerank
from ready import FULL_URL, KEY, SLOW_URL, URL, check, raised, report
from rerank_cases import check_rows


def reranker(url=URL, key=KEY, top_n=4):
    return JinaRerank(base_url=url, api_key=key, top_n=top_n)


def message(url=URL, key=KEY, **more):
    error = raised(lambda: rerank(reranker(url, key), **more))
    check("the kind of error", isinstance(error, RuntimeError))
    return str(error)


check_rows("rerank", rerank(reranker()))
check("top_n", len(rerank(reranker(top_n=2))) == 2)
check("an error", message(query=" ") == "query: Expected a text, got a blank one.")
check("a wrong key", "valid key" in message(key="wrong"))
check("a full queue", "queue is full" in message(FULL_URL))
check("a timeout of the service", "deadline" in message(SLOW_URL))
report()
