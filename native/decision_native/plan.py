"""A forest becomes forwards.

A tree is a state with its questions, and each of these with its candidates. Trees with the same state are one. A row of a forward is
(a piece of) a tree: its tokens attend to one another and to nodes encoded earlier, and not to other rows.

    forward    row 0   state  question  candidate  candidate          new tokens are packed one after the other for the linear
               row 1   [state, encoded earlier]  question  candidate  layers, and laid side by side for attention
"""

from dataclasses import dataclass

import numpy as np

LONG_STATE = 64  # tokens of a state that is worth keeping: SHORTEST_KEPT_STATE in src/backends/kept-states.ts


class Node:
    __slots__ = ("level", "tokens", "above", "begin")

    def __init__(self, level, tokens, above):
        self.level = level  # 0 state, 1 question, 2 candidate
        self.tokens = tokens  # int32 [tokens]
        self.above = above  # the nodes that its tokens see besides their own
        self.begin = sum(len(node.tokens) for node in above)  # place in the path of its first token


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
    states: dict  # key -> Node
    pairs: list  # the candidate of each pair, in the order of the forest
    rounds: list  # of lists of forwards, which are lists of rows; a row needs nodes of earlier rounds only


def read_forest(trees, payload):
    """
    @param trees   [key, state tokens, [[question tokens, [candidate tokens, ...]], ...]] each: counts, and by what a state is found
    @param payload int32, all tokens in that order
    @returns states by key, the questions and candidates below each, the candidates in order
    """
    tokens = np.frombuffer(payload, dtype="<i4")
    at = 0

    def take(count):
        nonlocal at
        at += count
        return tokens[at - count : at]

    states, below, pairs = {}, {}, []
    for key, state_tokens, questions in trees:
        own = take(state_tokens)
        state = states.setdefault(key, Node(0, own, ()))
        twigs = below.setdefault(key, [])
        for question_tokens, candidate_tokens in questions:
            question = Node(1, take(question_tokens), (state,))
            candidates = [Node(2, take(count), (state, question)) for count in candidate_tokens]
            twigs.append((question, candidates))
            pairs += candidates
    return states, below, pairs


def plan(trees, payload, is_known, limits):
    """@param is_known whether a state, by its key, has been encoded earlier @param limits Limits"""
    states, below, pairs = read_forest(trees, payload)
    rounds = []
    for key, state in states.items():
        encoded = {state} if is_known(key) else set()
        for index, row in enumerate(pieces(state, below[key], encoded, limits.tokens)):
            if index == len(rounds):
                rounds.append([])
            rounds[index].append(row)
    return Plan(states, pairs, [list(packed(rows, limits)) for rows in rounds])


def pieces(state, twigs, encoded, most):
    """Cuts what is below a state into rows of about `most` new tokens; each needs what those before it have encoded."""
    row = Row()
    for question, candidates in twigs:
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
