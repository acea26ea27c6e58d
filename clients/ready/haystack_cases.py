"""What the programs for Haystack's rankers share."""

from haystack import Document
from haystack.utils import Secret
from ready import FULL_URL, KEY, SLOW_URL, URL, check, raised, report
from rerank_cases import DOCUMENTS, QUERY, check_rows


def rerank(ranker, query=QUERY):
    """(index, relevance) pairs in the order of the answer."""
    documents = [Document(content=text, meta={"index": index}) for index, text in enumerate(DOCUMENTS)]
    return [(one.meta["index"], one.score) for one in ranker.run(query=query, documents=documents)["documents"]]


def check_ranker(connect, tells):
    """
    :param connect: a ranker from a URL, a key and a number of results
    :param tells: from a word to whether the error of a ranker must have it
    """
    def told(url=URL, key=KEY, query=QUERY):
        return str(raised(lambda: rerank(connect(url, Secret.from_token(key), 4), query)))

    key = Secret.from_token(KEY)
    check_rows("all", rerank(connect(URL, key, 4)))
    check("the number of results", len(rerank(connect(URL, key, 2))) == 2)
    check("an error", tells["invalid"] in told(query=" "))
    check("a wrong key", tells["key"] in told(key="wrong"))
    check("a full queue", tells["full"] in told(FULL_URL))
    check("a timeout of the service", tells["late"] in told(SLOW_URL))
    check_rows("all, after the errors", rerank(connect(URL, key, 4)))
    report()
