"""What the programs for LlamaIndex's rerankers share."""

from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from rerank_cases import DOCUMENTS, QUERY


def rerank(reranker, texts=DOCUMENTS, query=QUERY):
    """(index, relevance) pairs of what a reranker returns."""
    nodes = [NodeWithScore(node=TextNode(text=text, id_=str(at)), score=0.5) for at, text in enumerate(texts)]
    found = reranker.postprocess_nodes(nodes, QueryBundle(query))
    return [(int(node.node.node_id), node.score) for node in found]
