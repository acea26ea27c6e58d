"""Haystack's ranker for Cohere: its operation, an error, a wrong key, a full queue, a timeout."""

from haystack_cases import check_ranker
from haystack_integrations.components.rankers.cohere import CohereRanker


def connect(url, key, top_k):
    return CohereRanker(api_base_url=url, api_key=key, top_k=top_k)


check_ranker(connect, {"invalid": "422", "key": "401", "full": "503", "late": "504"})
