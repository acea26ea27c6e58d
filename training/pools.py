"""Further wrong candidates for choices among fixed labels.

If the labels of a set exclude each other, a label that is wrong for one decision is wrong for every decision with the same right label.
"""
import numpy as np

from decision import CHOICE

EXCLUSIVE = {"banking77", "clinc150", "hwu64", "bitext_support", "snips"}


class Pools:
    """confused: {right label: [wrong labels, most confused first]} of mine.py, numbers as `store.same` gives them."""

    MOST = 12

    def __init__(self, store, confused=None):
        self.store, self.confused = store, {int(right): wrong for right, wrong in (confused or {}).items()}
        self.wrong, self.texts = {}, {}
        for k, name in enumerate(store.names):
            if name in EXCLUSIVE:
                self._collect(np.flatnonzero((store.sets == k) & (store.kinds == CHOICE)))

    def _collect(self, indices):
        for i in indices:
            s = self.store
            at, end = s.candidate_at[i], s.candidate_at[i + 1]
            labels, texts = s.label[at:end], s.text[at:end]
            right = at + s.answers[i]
            if s.trivial[labels].any() or s.rest[s.label[right]] or s.rest[s.text[right]]:
                continue
            names = s.same[labels].tolist()
            self.wrong.setdefault(names[right - at], set()).update(names)
            for name, label, text in zip(names, labels.tolist(), texts.tolist()):
                self.texts.setdefault(name, set()).add((label, text))

    def candidates(self, right):
        """Labels that are wrong if `right` is the answer. -> [number]"""
        return sorted(self.wrong.get(right, {right}) - {right})

    def others(self, i, rng):
        """Further wrong candidates for decision i. Half of them are those that the model confuses most. -> [(label ids, text ids)]"""
        s = self.store
        at, end = s.candidate_at[i], s.candidate_at[i + 1]
        if at == end:
            return []
        names = s.same[s.label[at:end]].tolist()
        right = names[s.answers[i]]
        hard = self.confused.get(right)
        possible = hard if hard and rng.random() < 0.5 else self.candidates(right)
        possible = [name for name in possible if name not in names]
        if s.trivial[s.label[at:end]].any() or right not in self.wrong or not possible:
            return []
        size = min(int(rng.integers(1, self.MOST + 1)), len(possible))
        chosen = possible[:size] if possible is hard else rng.choice(possible, size, replace=False)
        return [self.spelled(int(name), rng) for name in chosen]

    def spelled(self, name, rng):
        spellings = sorted(self.texts[name])
        label, text = spellings[rng.integers(len(spellings))]
        return self.store.ids(label), self.store.ids(text)
