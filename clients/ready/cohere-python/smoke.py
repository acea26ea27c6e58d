"""Cohere's Python client: every operation of rerank, an error, a wrong key, a full queue, a timeout."""

import asyncio

import cohere
from cohere.errors import (
    GatewayTimeoutError,
    ServiceUnavailableError,
    UnauthorizedError,
    UnprocessableEntityError,
)
from ready import FULL_URL, KEY, SLOW_URL, URL, check, raised, report
from rerank_cases import DOCUMENTS, QUERY, check_rows

ONCE = {"max_retries": 0}


def client(url=URL, key=KEY, **more):
    return cohere.ClientV2(api_key=key, base_url=url, **more)


def rerank(of, documents=DOCUMENTS, query=QUERY, **more):
    return of.rerank(model="rerank-v3.5", query=query, documents=documents, **more)


def rows(answer):
    return [(row.index, row.relevance_score) for row in answer.results]


answer = rerank(client())
check("all documents", sorted(row.index for row in answer.results) == [0, 1, 2, 3])
check("the answer first", {row.index for row in answer.results[:2]} == {1, 3})
check("an id", bool(answer.id))
check("the version", answer.meta.api_version.version == "2")
check("no warnings", not answer.meta.warnings)
check_rows("rerank", rows(answer))
check_rows("top_n", rows(rerank(client(), top_n=2)))
check("top_n", len(rerank(client(), top_n=2).results) == 2)
check_rows("one document", rows(rerank(client(), DOCUMENTS[:1])))
check("1,000 documents", len(rerank(client(), DOCUMENTS * 250, top_n=1000).results) == 1000)
cut = rerank(client(), max_tokens_per_doc=5)
check("a cut is told", "cut as requested" in cut.meta.warnings[0])

refused = raised(lambda: rerank(client(), query=" "))
check("an error", isinstance(refused, UnprocessableEntityError))
check("its message", refused.body["message"] == "query: Expected a text, got a blank one.")
wrong = raised(lambda: rerank(client(key="wrong")))
check("a wrong key", isinstance(wrong, UnauthorizedError) and "valid key" in wrong.body["message"])
full = raised(lambda: rerank(client(FULL_URL), request_options=ONCE))
check("a full queue", isinstance(full, ServiceUnavailableError) and "queue is full" in full.body["message"])
late = raised(lambda: rerank(client(SLOW_URL), request_options=ONCE))
check("a timeout of the service", isinstance(late, GatewayTimeoutError) and "deadline" in late.body["message"])


async def main():
    async with cohere.AsyncClientV2(api_key=KEY, base_url=URL) as of:
        check_rows("the async client", rows(await rerank(of)))


asyncio.run(main())
report()
