"""Nodes from the tensors of a forward that holds whole trees: what src/backends/tensors/whole-inputs.ts writes."""

import numpy as np

from .plan import Node


def nodes_of(ids, query_nodes, read_at):
    """
    @param ids         int32 [tokens]
    @param query_nodes int32 [tokens, 3] numbers of a token's own node, its state and its question; 0: none, below 0: padding
    @param read_at     int64 [pairs] a token of each candidate, or padding
    @returns           nodes as of `plan.read_nodes`, and of each of their candidates the place in `read_at`
    @throws ValueError for tensors that are no such forward
    """
    own = query_nodes[:, 0]
    begins = np.concatenate(([0], np.flatnonzero(own[1:] != own[:-1]) + 1))
    numbers = own[begins].tolist()
    pieces = dict(zip(numbers, np.split(ids, begins[1:])))
    if len(pieces) != len(numbers):
        raise ValueError("a node's tokens do not stand together")
    if len(read_at) and not 0 <= int(read_at.min()) <= int(read_at.max()) < len(own):
        raise ValueError("a place to read is outside of the tokens")
    questions = {}  # by state and question: the candidates' numbers and places
    for place, at in enumerate(read_at.tolist()):
        number, state, question = query_nodes[at].tolist()
        if number < 0:
            continue
        if state <= 0 or question <= 0:
            raise ValueError("a place to read is not in a candidate")
        questions.setdefault(state, {}).setdefault(question, []).append((number, place))
    nothing = ids[:0]
    states, nodes, places = {}, [], []
    for number, below in questions.items():
        tokens = pieces.get(number, nothing)
        state = states.setdefault(tokens.tobytes(), Node(tokens, None, tokens.tobytes()))  # states of the same tokens are one
        for number, candidates in below.items():
            question = Node(pieces.get(number, nothing), state, None)
            nodes += [Node(pieces.get(number, nothing), question, None) for number, _ in candidates]
            places += [place for _, place in candidates]
    return nodes, places
