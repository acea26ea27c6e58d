"""Forests from the tensors of a forward that holds whole trees: what src/backends/tensors/whole-inputs.ts writes."""

import numpy as np


def forest_of(ids, query_nodes, read_at):
    """
    @param ids         int32 [tokens]
    @param query_nodes int32 [tokens, 3] numbers of a token's own node, its state and its question; 0: none, below 0: padding
    @param read_at     int64 [pairs] a token of each candidate, or padding
    @returns           trees and payload as `plan.read_forest` takes them, and of each of their pairs the place in `read_at`
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
    trees, tokens, places = [], [], []
    for state, below in questions.items():
        own_tokens = pieces.get(state, nothing)
        tokens.append(own_tokens)
        counts = []
        for question, candidates in below.items():
            nodes = [pieces.get(number, nothing) for number in (question, *(number for number, _ in candidates))]
            tokens += nodes
            counts.append([len(nodes[0]), [len(node) for node in nodes[1:]]])
            places += [place for _, place in candidates]
        # states of the same tokens are one
        trees.append([own_tokens.tobytes(), len(own_tokens), counts])
    payload = np.concatenate(tokens).astype("<i4", copy=False).tobytes() if tokens else b""
    return trees, payload, places
