"""Batches of a run in a fixed order, formed in this process or by workers."""
import numpy as np
import torch

from batches import arrays, plan


class Chunks(torch.utils.data.Dataset):
    """Chunk k -> its batches, in a fixed order."""

    def __init__(self, sampler, budget):
        self.sampler, self.budget = sampler, budget

    def __len__(self):
        return 10**9

    def __getitem__(self, k):
        rows = self.sampler.rows(k)
        batches = plan(np.array([len(r.tokens) for r in rows]), self.budget, np.random.default_rng([self.sampler.seed, k, 11]))
        return [arrays([rows[i] for i in batch]) for batch in batches]


def as_is(batches):
    """Leaves NumPy arrays unchanged. Tensors would use shared memory, which may be small."""
    return batches


def stream(chunks, chunk, batch, workers):
    """Batches from a given position on. -> (chunk, number of the next batch, arrays of batches.py) ..."""
    loader = torch.utils.data.DataLoader(chunks, batch_size=None, sampler=range(chunk, len(chunks)), num_workers=workers,
                                         prefetch_factor=2 if workers else None, collate_fn=as_is, multiprocessing_context="fork" if workers else None)
    for k, batches in enumerate(loader, chunk):
        for j in range(batch, len(batches)):
            yield k, j + 1, batches[j]
        batch = 0
