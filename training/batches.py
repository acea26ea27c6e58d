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


def arrays(rows):
    """-> dict of compact NumPy arrays, for B rows of at most T tokens and N candidates:

    ids, position, part [B,T]: token, place in its part, number of the part (0 state, 1 question, 2.. candidates)
    first [B,N]: where each candidate starts; real [B,N]: whether there is one; answer [B]
    """
    B, N = len(rows), max(len(r.lengths) for r in rows) - 2
    T = -(-max(len(r.tokens) for r in rows) // STEP) * STEP
    ids, position = np.zeros((B, T), np.uint16), np.zeros((B, T), np.uint16)
    part = np.full((B, T), PADDING, np.uint8)
    first, real = np.zeros((B, N), np.int32), np.zeros((B, N), bool)
    for b, r in enumerate(rows):
        n, lengths = len(r.tokens), np.asarray(r.lengths)
        starts = np.cumsum(lengths) - lengths
        ids[b, :n] = r.tokens
        position[b, :n] = np.arange(n) - np.repeat(starts, lengths)
        part[b, :n] = np.repeat(np.arange(len(lengths)), lengths)
        first[b, :len(lengths) - 2], real[b, :len(lengths) - 2] = starts[2:], True
    return {"ids": ids, "position": position, "part": part, "first": first, "real": real, "answer": np.array([r.answer for r in rows])}


def tensors(batch, device):
    """The arrays of a batch on a device, and `segment` [B,T]: 0 state, 1 question, 2 candidate. Integers become int64."""
    # torch moves uint16 only as the int16 of the same bits
    signed = lambda array: array.view(np.int16) if array.dtype == np.uint16 else array
    held = {name: torch.from_numpy(signed(array)).to(device, non_blocking=True) for name, array in batch.items()}
    made = {name: t if t.dtype == torch.bool else t.long() & 0xFFFF for name, t in held.items()}
    return {**made, "segment": made["part"].clamp(max=2)}
