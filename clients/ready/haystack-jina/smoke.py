"""Haystack's ranker for Jina: its operation, an error, a wrong key, a full queue, a timeout. It tells the error's own words."""

from haystack_cases import check_ranker
from haystack_integrations.components.rankers.jina import JinaRanker


def connect(url, key, top_k):
    return JinaRanker(base_url=url, api_key=key, top_k=top_k)


check_ranker(connect, {"invalid": "blank", "key": "key", "full": "full", "late": "deadline"})
