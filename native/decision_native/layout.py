"""Where the tokens of a forward are: indices and masks, made on the host in one block and copied to the device at once."""

from dataclasses import dataclass
from typing import Optional

import numpy as np
import torch

MASK_STEP = 16  # numbers to which the rows of a mask are aligned, as attention on GPUs wants them


@dataclass(frozen=True)
class Asked:
    """Queries of a forward: every new token, or only those that are read."""

    spread: Optional[torch.Tensor]  # [rows * queries] places among the packed ones; None: there is one row
    gather: Optional[torch.Tensor]  # [packed] the way back
    masks: dict  # by kind of layer: [rows, 1, queries, keys], added to the logits
    rows: int


@dataclass(frozen=True)
class Layout:
    ids: torch.Tensor  # [tokens]
    positions: torch.Tensor  # [tokens]
    segments: torch.Tensor  # [tokens]
    read_at: torch.Tensor  # [read] places of the tokens that are scored
    keys: Optional[torch.Tensor]  # [rows * keys] places among the past keys and the new ones after them; None: one row, in that order
    all: Asked
    read: Asked
    rows: int
    nodes: list  # the new nodes in order
    scored: list  # the candidates, in the order of `read_at`
    past: list  # the nodes encoded earlier, in the order of their keys


def lay_out(forward, model, device, dtype):
    """@param forward list of rows @param model tells positions, where a candidate is read, and its kinds of attention"""
    past = list(dict.fromkeys(node for row in forward for node in row.past))
    nodes = [node for row in forward for node in row.new]
    number = {node: index for index, node in enumerate((*past, *nodes))}
    lengths = np.array([len(node.tokens) for node in (*past, *nodes)], dtype=np.int64)
    begins = np.concatenate(([0], np.cumsum(lengths)))  # of each node, among past and new tokens
    past_tokens = int(begins[len(past)])
    tokens = int(begins[-1]) - past_tokens
    check(nodes, model)
    counts = lengths[len(past) :]
    scored = [node for node in nodes if node.level == 2]
    read_at = [begins[number[node]] - past_tokens + model.read_offset(node) for node in scored]

    rows, longest = len(forward), max(row.queries for row in forward)
    widest = max(row.keys for row in forward)
    keys = np.zeros((rows, widest), dtype=np.int64)
    key_nodes = np.full((rows, widest), -1, dtype=np.int64)
    key_places = np.zeros((rows, widest), dtype=np.int64)
    spread = np.zeros((rows, longest), dtype=np.int64)
    gather = np.empty(tokens, dtype=np.int64)
    read_row = []
    for index, row in enumerate(forward):
        at = 0
        for node in (*row.past, *row.new):
            begin, count = begins[number[node]], len(node.tokens)
            keys[index, at : at + count] = np.arange(begin, begin + count)
            key_nodes[index, at : at + count] = number[node]
            key_places[index, at : at + count] = np.arange(node.begin, node.begin + count)
            at += count
        first, queries = begins[number[row.new[0]]] - past_tokens, row.queries
        spread[index, :queries] = np.arange(first, first + queries)
        gather[first : first + queries] = index * longest + np.arange(queries)
        read_row += [index] * sum(node.level == 2 for node in row.new)
    read_rows = np.array(read_row)
    read_spread, read_gather, most_read = side_by_side(read_rows, rows)

    # of each new token: its own node and those above it
    sees = np.array([[number[node], *(number[each] for each in node.above), *([-2] * (2 - len(node.above)))] for node in nodes])
    sees = np.repeat(sees, counts, axis=0)
    place = np.concatenate([np.arange(node.begin, node.begin + len(node.tokens)) for node in nodes])
    blocks = {
        "ids": np.concatenate([node.tokens for node in nodes]),
        "positions": np.concatenate([model.positions_of(node) for node in nodes]),
        "segments": np.repeat([node.level for node in nodes], counts),
        "read_at": read_at,
        "keys": keys,
        "key_nodes": key_nodes,
        "key_places": key_places,
        "spread": spread,
        "gather": gather,
        "read_spread": read_spread,
        "read_gather": read_gather,
        "sees": sees,
        "place": place,
    }
    sent = send(blocks, device)
    visible = model.visible(
        sent["sees"][sent["spread"]].reshape(rows, longest, 3),
        sent["place"][sent["spread"]].reshape(rows, longest),
        sent["key_nodes"].reshape(rows, widest),
        sent["key_places"].reshape(rows, widest),
    )
    masks = {kind: mask_of(seen, dtype) for kind, seen in visible.items()}
    single = rows == 1
    # the queries of a row that are read; every row has one
    read_queries = (sent["gather"][sent["read_at"]][sent["read_spread"]] % longest).reshape(rows, most_read)
    read_masks = {kind: pick_queries(mask, read_queries) for kind, mask in masks.items()}
    return Layout(
        ids=sent["ids"],
        positions=sent["positions"],
        segments=sent["segments"],
        read_at=sent["read_at"],
        keys=None if single else sent["keys"],
        all=Asked(None if single else sent["spread"], None if single else sent["gather"], masks, rows),
        read=Asked(None if single else sent["read_spread"], None if single else sent["read_gather"], read_masks, rows),
        rows=rows,
        nodes=nodes,
        scored=scored,
        past=past,
    )


def check(nodes, model):
    """On the host: on a GPU a wrong index would end the process."""
    for node in nodes:
        if len(node.tokens) and not 0 <= int(node.tokens.min()) <= int(node.tokens.max()) < model.vocab:
            raise ValueError(f"a token is outside of the model's vocabulary of {model.vocab}")
        if node.begin + len(node.tokens) > model.longest:
            raise ValueError(f"a pair has {node.begin + len(node.tokens)} tokens, but the model has {model.longest} positions")


def side_by_side(rows_of, rows):
    """@param rows_of [items] row of each, ascending, each row there @returns places [rows * most] and the way back [items], and the most of a row"""
    counts = np.bincount(rows_of, minlength=rows)
    most = int(counts.max())
    firsts = np.concatenate(([0], np.cumsum(counts)))[:-1]
    places = np.minimum(np.arange(most), counts[:, None] - 1) + firsts[:, None]
    back = rows_of * most + (np.arange(len(rows_of)) - firsts[rows_of])
    return places.reshape(-1), back, most


def send(blocks, device):
    """Arrays to the device in one copy, which the host does not wait for. @returns int64 tensors, one-dimensional but for `sees`"""
    arrays = {name: np.asarray(array, dtype=np.int64).reshape(-1) for name, array in blocks.items()}
    packed = torch.from_numpy(np.concatenate(list(arrays.values())))
    if device.type == "cuda":
        packed = packed.pin_memory().to(device, non_blocking=True)
    elif device.type != "cpu":
        packed = packed.to(device)
    parts = dict(zip(arrays, packed.split([len(array) for array in arrays.values()])))
    parts["sees"] = parts["sees"].reshape(-1, 3)
    return parts


def on_path(sees, key_nodes):
    """sees [rows, queries, 3] the nodes that a query sees, key_nodes [rows, keys] -> bool [rows, queries, keys]"""
    own, question, state = (sees[..., level, None] == key_nodes[:, None, :] for level in range(3))
    return own | question | state


def mask_of(visible, dtype):
    """bool [rows, queries, keys] -> 0 or -inf, [rows, 1, queries, keys], each row of it aligned"""
    rows, queries, keys = visible.shape
    aligned = -(-keys // MASK_STEP) * MASK_STEP
    mask = torch.zeros((rows, 1, queries, aligned), dtype=dtype, device=visible.device)[..., :keys]
    return mask.masked_fill_(~visible[:, None], float("-inf"))


def pick_queries(mask, places):
    """mask [rows, 1, queries, keys], places [rows, picked] -> [rows, 1, picked, keys]"""
    return mask.gather(2, places[:, None, :, None].expand(-1, 1, -1, mask.shape[-1]))
