"""Rows -> padded tensors of rows of similar length."""
import numpy as np
import torch

PADDING = 65535
STEP = 8  # lengths are rounded up to a multiple of this, which attention kernels compute faster


def plan(lengths, budget, rng=None):
    """Index arrays of rows whose padded size stays within `budget` tokens; shuffled if `rng` is given."""
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


def arrays(rows):
    """-> dict of compact NumPy arrays, for B rows of at most T tokens and N candidates, with Q questions of at most C candidates in all:

    ids, position, part, owner [B,T]: token, place in its part, number of the part in the row (0 is the state), number of its question's part
    first [B,N]: where each candidate of the row starts
    choice [Q,C]: the candidates of each question, row * N + place among the row's; real [Q,C]: whether there is one; answer [Q]
    """
    B, N, C = len(rows), max(sum(r.counts) for r in rows), max(max(r.counts) for r in rows)
    Q, T = sum(len(r.counts) for r in rows), -(-max(len(r.tokens) for r in rows) // STEP) * STEP
    ids, position = np.zeros((B, T), np.uint16), np.zeros((B, T), np.uint16)
    part, owner = np.full((B, T), PADDING, np.uint16), np.full((B, T), PADDING, np.uint16)
    first, choice, real = np.zeros((B, N), np.int32), np.zeros((Q, C), np.int32), np.zeros((Q, C), bool)
    q = 0
    for b, r in enumerate(rows):
        n, lengths = len(r.tokens), np.asarray(r.lengths)
        starts = np.cumsum(lengths) - lengths
        questions = np.cumsum([1, *(count + 1 for count in r.counts[:-1])])
        ids[b, :n] = r.tokens
        position[b, :n] = np.arange(n) - np.repeat(starts, lengths)
        part[b, :n] = np.repeat(np.arange(len(lengths)), lengths)
        owner[b, :n] = np.repeat([0, *np.repeat(questions, np.array(r.counts) + 1)], lengths)
        first[b, :sum(r.counts)] = np.delete(starts, [0, *questions])
        at = 0
        for count in r.counts:
            choice[q, :count], real[q, :count] = b * N + at + np.arange(count), True
            q, at = q + 1, at + count
    return {"ids": ids, "position": position, "part": part, "owner": owner, "first": first, "choice": choice, "real": real,
            "answer": np.array([answer for r in rows for answer in r.answers])}


def tensors(batch, device):
    """The arrays of a batch on a device, and `segment` [B,T]: 0 state, 1 question, 2 candidate. Integers become int64."""
    # torch copies uint16 to a device only as int16 with the same bits
    signed = lambda array: array.view(np.int16) if array.dtype == np.uint16 else array
    held = {name: torch.from_numpy(signed(array)).to(device, non_blocking=True) for name, array in batch.items()}
    made = {name: t if t.dtype == torch.bool else t.long() & 0xFFFF for name, t in held.items()}
    return {**made, "segment": (made["part"] > 0).long() + (made["part"] != made["owner"]).long()}
