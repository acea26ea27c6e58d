"""Which decisions come when: a fixed order that any run can enter anywhere.

Decisions come in chunks of a fixed size. A set's share of each chunk is proportional to (its size ** `power`) / (its mean
tokens ** `thrift`); within the set they follow a shuffled order, shuffled anew each time it has been through.
Chunk k is a function of (seed, k) alone.
"""
import numpy as np

from augment import Context, augment, fewer
from decision import read, row
from pools import Pools

class Sampler:
    def __init__(self, store, *, seed=1, size=2048, power=0.5, thrift=0.0, limits=(512, 256, 128), most_candidates=64, strength=1.0, longest_row=2048, confused=None):
        self.store, self.seed, self.size, self.limits = store, seed, size, limits
        self.most_candidates, self.strength, self.longest_row = most_candidates, strength, longest_row
        self.members = [np.flatnonzero(store.sets == k) for k in range(len(store.names))]
        counts = np.array([len(m) for m in self.members], float)
        tokens = np.array([store.sizes[m].mean() if len(m) else 1.0 for m in self.members])
        shares = np.where(counts > 0, counts**power / tokens**thrift, 0.0)
        self.shares = shares / shares.sum()
        self.pools = Pools(store, confused)

    def indices(self, chunk):
        """-> int64 [about `size`] decisions of the chunk"""
        bounds = np.floor(np.outer([chunk, chunk + 1], self.shares * self.size)).astype(int)
        out = []
        for k, (start, end) in enumerate(bounds.T):
            n = len(self.members[k])
            while start < end:
                lap, at = divmod(start, n)
                order = np.random.default_rng([self.seed, k, lap]).permutation(self.members[k])
                out.append(order[at:at + end - start])
                start += len(out[-1])
        return np.concatenate(out)

    def rows(self, chunk):
        """-> [Row] of the chunk, augmented"""
        rng = np.random.default_rng([self.seed, chunk, 7])
        rows = []
        for i in self.indices(chunk):
            context = Context(rng, self.store.wordings, lambda: self._state(rng), lambda i=i: self.pools.others(i, rng),
                              self.limits[0])
            decision = augment(read(self.store, i), context, self.strength)
            if len(decision) > self.most_candidates:
                decision = fewer(decision, context, self.most_candidates) or decision
            made = row(decision, self.store.wordings, self.limits)
            if len(made.tokens) <= self.longest_row:
                rows.append(made)
        return rows

    def _state(self, rng):
        return self.store.ids(self.store.state[rng.integers(len(self.store))])
