"""Rows -> padded tensors of rows of similar length."""
import numpy as np
import torch

PADDING = 255
STEP = 8  # lengths are rounded up to this: attention kernels like it


def plan(lengths, budget, rng=None):
    """Index arrays of rows whose padded size stays within `budget` tokens; shuffled where `rng` is given."""
    order = np.argsort(lengths, kind="stable")[::-1]
    out, start = [], 0
    while start < len(order):
        width = -(-lengths[order[start]] // STEP) * STEP
        size = max(1, int(budget // width))
        out.append(order[start:start + size])
        start += size
    if rng is not None:
        rng.shuffle(out)
    return out


def tensors(rows):
    """-> dict of tensors, for B rows of at most T tokens and N candidates:

    ids, position, segment, part [B,T]: token, place in its part, 0 state 1 question 2 candidate, number of the part
    first [B,N]: where each candidate starts; real [B,N]: whether there is one; answer [B]
    """
    B, N = len(rows), max(len(r.lengths) for r in rows) - 2
    T = -(-max(len(r.tokens) for r in rows) // STEP) * STEP
    ids, position = np.zeros((B, T), np.int64), np.zeros((B, T), np.int64)
    part = np.full((B, T), PADDING, np.int64)
    first, real = np.zeros((B, N), np.int64), np.zeros((B, N), bool)
    for b, r in enumerate(rows):
        n, lengths = len(r.tokens), np.asarray(r.lengths)
        starts = np.cumsum(lengths) - lengths
        ids[b, :n] = r.tokens
        position[b, :n] = np.arange(n) - np.repeat(starts, lengths)
        part[b, :n] = np.repeat(np.arange(len(lengths)), lengths)
        first[b, :len(lengths) - 2], real[b, :len(lengths) - 2] = starts[2:], True
    made = {"ids": ids, "position": position, "part": part, "segment": np.minimum(part, 2), "first": first, "real": real,
            "answer": np.array([r.answer for r in rows], np.int64)}
    return {name: torch.from_numpy(array) for name, array in made.items()}
