"""The nodes of a batch become forwards.

A row of a forward is (a piece of) what is below one state: its tokens attend to one another and to nodes encoded earlier, and not to
other rows.

    forward    row 0   state  question  candidate  candidate          new tokens are packed one after the other for the linear
               row 1   [state, encoded earlier]  question  candidate  layers, and laid side by side for attention
"""

from dataclasses import dataclass

import numpy as np

LONG_STATE = 64  # tokens of a state that is worth caching: LONG_STATE in src/backends/tensors/forward.ts


class Node:
    __slots__ = ("level", "tokens", "above", "key", "begin")

    def __init__(self, tokens, parent, key):
        self.above = () if parent is None else (*parent.above, parent)  # the nodes that its tokens see besides their own
        self.level = len(self.above)  # 0 state, 1 question, 2 candidate
        self.tokens = tokens  # int32 [tokens]
        self.key = key  # by what a state is found
        self.begin = sum(len(node.tokens) for node in self.above)  # place in the path of its first token


class Row:
    def __init__(self):
        self.past, self.new = [], []
        self.queries = self.keys = 0  # tokens: new ones, and all
        self.nodes = set()

    def add(self, node, is_encoded):
        (self.past if is_encoded else self.new).append(node)
        self.nodes.add(node)
        self.queries += 0 if is_encoded else len(node.tokens)
        self.keys += len(node.tokens)


@dataclass(frozen=True)
class Plan:
    states: list
    leaves: list  # the candidate of each pair, in order
    rounds: list  # of lists of forwards, which are lists of rows; a row needs nodes of earlier rounds only


def read_nodes(lengths, parents, keys, payload):
    """
    @param lengths tokens of each node
    @param parents index of the node above, which comes before; -1 for a state
    @param payload int32, the tokens of all nodes in that order
    @returns       the nodes; each state is one of them
    """
    tokens = np.frombuffer(payload, dtype="<i4")
    nodes, at = [], 0
    for length, parent, key in zip(lengths, parents, keys):
        nodes.append(Node(tokens[at : at + length], nodes[parent] if parent >= 0 else None, key))
        at += length
    return nodes


def plan(nodes, is_known, limits):
    """@param is_known whether a state, by its key, has been encoded earlier @param limits Limits"""
    leaves = [node for node in nodes if node.level == 2]
    below = {}
    for leaf in leaves:
        below.setdefault(leaf.above[0], []).append(leaf)
    rounds = []
    for state, candidates in below.items():
        encoded = {state} if is_known(state.key) else set()
        for index, row in enumerate(pieces(candidates, encoded, limits.tokens)):
            if index == len(rounds):
                rounds.append([])
            rounds[index].append(row)
    return Plan(list(below), leaves, [list(packed(rows, limits)) for rows in rounds])


def pieces(candidates, encoded, most):
    """Cuts what is below a state into rows of about `most` new tokens; each needs what those before it have encoded."""
    row = Row()
    for node in candidates:
        missing = [each for each in (*node.above, node) if each not in row.nodes]
        added = sum(len(each.tokens) for each in missing if each not in encoded)
        if row.new and row.queries + added > most:
            encoded.update(row.new)
            yield row
            row = Row()
            missing = [*node.above, node]
        for each in missing:
            row.add(each, each in encoded)
    if row.new:
        yield row


def packed(rows, limits):
    """Rows of like sizes beside each other: each is padded to the longest of its forward."""
    forward, tokens, area, longest, widest = [], 0, 0, 0, 0
    for row in sorted(rows, key=lambda row: (row.keys, row.queries)):
        queries, keys = row.queries, row.keys
        padded = (len(forward) + 1) * max(longest, queries) * max(widest, keys)
        if forward and (tokens + queries > limits.tokens or padded > max(limits.area, 2 * (area + queries * keys))):
            yield forward
            forward, tokens, area, longest, widest = [], 0, 0, 0, 0
        forward.append(row)
        tokens += queries
        area += queries * keys
        longest, widest = max(longest, queries), max(widest, keys)
    if forward:
        yield forward


@dataclass(frozen=True)
class Limits:
    """What one forward may hold, unless one tree's nodes are larger."""

    tokens: int
    area: int  # products of queries and keys that are computed in any case rather than in a further forward
