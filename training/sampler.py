"""The order of decisions: fixed, so that a run can resume anywhere.

Decisions are in chunks of a fixed size. Decisions of one set about one state form a row. A set's share of each chunk is
proportional to (its size ** `power`) / (its mean tokens ** `thrift`) * `times`. Within a set, states are in random
order, reshuffled after each pass. Of a state with many questions, as many are drawn as fit into `below` tokens. Chunk k
depends only on (seed, k).
"""
import numpy as np

from augment import Context, augment, augment_state, fewer
from decision import read, row
from pools import Pools


class Sampler:
    def __init__(self, store, *, seed=1, size=2048, power=0.5, thrift=0.0, limits=(512, 256, 128), most_candidates=64, strength=1.0, longest_row=2048,
                 below=384, together=8, confused=None, times=None):
        self.store, self.seed, self.size, self.limits = store, seed, size, limits
        self.most_candidates, self.strength, self.longest_row = most_candidates, strength, longest_row
        self.below, self.together = below, together
        self.order, self.starts = store.groups()
        of = store.sets[self.order[self.starts[:-1]]]
        self.members = [np.flatnonzero(of == k) for k in range(len(store.names))]
        sizes = np.minimum(np.diff(self.starts), together)
        self.each = np.array([sizes[m].mean() if len(m) else 1.0 for m in self.members])
        counts = np.bincount(store.sets, minlength=len(store.names)).astype(float)
        tokens = np.array([store.sizes[store.sets == k].mean() if counts[k] else 1.0 for k in range(len(store.names))])
        shares = np.where(counts > 0, counts**power / tokens**thrift, 0.0)
        shares *= [(times or {}).get(name, 1.0) for name in store.names]
        self.shares = shares / shares.sum()
        self.pools = Pools(store, confused)

    def groups(self, chunk):
        """The groups of chunk k, with about `size` decisions. -> int64"""
        bounds = np.floor(np.outer([chunk, chunk + 1], self.shares * self.size / self.each)).astype(int)
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
        """The augmented rows of a chunk. -> [Row]"""
        rng = np.random.default_rng([self.seed, chunk, 7])
        made = (self.row(rng.permutation(self.order[self.starts[g]:self.starts[g + 1]])[:self.together], rng) for g in self.groups(chunk))
        return [row for row in made if len(row.tokens) <= self.longest_row]

    def row(self, indices, rng):
        """The row of decisions that share one state."""
        decisions = []
        for i in indices:
            context = Context(rng, self.store.wordings, lambda: self._state(rng), lambda i=i: self.pools.others(i, rng), self.limits[0])
            decision = augment(read(self.store, i), context, self.strength)
            if len(decision) > self.most_candidates:
                decision = fewer(decision, context, self.most_candidates) or decision
            decisions.append(decision)
        return row(augment_state(decisions, context, self.strength), self.store.wordings, self.limits, self.below)

    def _state(self, rng):
        return self.store.ids(self.store.state[rng.integers(len(self.store))])
