"""Haystack's ranker for TEI: its operation, an error, a wrong key, a full queue, a timeout."""

from haystack_cases import check_ranker
from haystack_integrations.components.rankers.huggingface_api import HuggingFaceTEIRanker


def connect(url, key, top_k):
    return HuggingFaceTEIRanker(url=url, token=key, top_k=top_k, max_retries=1)


check_ranker(connect, {"invalid": "422", "key": "401", "full": "429", "late": "504"})
