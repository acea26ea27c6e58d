"""Decisions as token ids of deduplicated texts, in compressed shards.

A shard holds two groups of arrays:

    tokens  uint16 [sum of lengths]   token ids of every distinct text, without special tokens
    lengths uint32 [texts]            tokens of each text
    trivial bool   [texts]            as a label, the text has no meaning (A, 1, option_2)
    rest   bool    [texts]            the text means anything else (other, none of these)
    same   uint32  [texts]            the first text that is the same label in another form (PlayMusic, play_music)
    sets, kinds, answers uint8 [decisions]   KINDS below; the answer is an index of the candidates
    state, question uint32 [decisions]       texts
    count uint8 [decisions]                  candidates of each decision; 0 for a noul, whose candidates follow from its question
    label, text uint32 [sum of counts]       texts of each candidate; text 0 is the empty one

`names` (of the sets) and `wordings` (token ids of wordings.py, cut at the gap) are JSON.
"""
import io
import json
import lzma

import numpy as np

KINDS = ("choice", "noul", "score")
PER_TEXT = ("tokens", "lengths", "trivial", "rest", "same")
PER_DECISION = ("sets", "kinds", "answers", "state", "question", "count")
PER_CANDIDATE = ("label", "text")


def write(path, arrays, about):
    """Writes arrays (dict of NumPy arrays) and `about` (JSON) as one compressed file. -> bytes written"""
    buffer = io.BytesIO()
    np.savez(buffer, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)
    packed = lzma.compress(buffer.getbuffer(), preset=6 | lzma.PRESET_EXTREME)
    with open(path, "wb") as file:
        file.write(packed)
    return len(packed)


def read(path):
    """-> (dict of arrays, about)"""
    with lzma.open(path) as file:
        arrays = dict(np.load(io.BytesIO(file.read())))
    return arrays, json.loads(arrays.pop("about").tobytes())


class Store:
    """One or more shards as one collection of decisions."""

    def __init__(self, paths):
        shards = [read(path) for path in paths]
        self.names, self.wordings = shards[0][1]["names"], shards[0][1]["wordings"]
        joined = {name: [] for name in (*PER_TEXT, *PER_DECISION, *PER_CANDIDATE)}
        texts = 0
        for arrays, about in shards:
            assert about["names"] == self.names, "shards of different preparations"
            for name, parts in joined.items():
                shift = texts if name in ("same", "state", "question", *PER_CANDIDATE) else 0
                parts.append(arrays[name] + np.uint32(shift) if shift else arrays[name])
            texts += len(arrays["lengths"])
        for name, parts in joined.items():
            setattr(self, name, np.concatenate(parts))
        self.token_at = np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])
        self.candidate_at = np.concatenate([[0], np.cumsum(self.count, dtype=np.int64)])
        self.sizes = self._sizes()

    def __len__(self):
        return len(self.sets)

    def ids(self, text):
        """Token ids of a text. -> uint16 [length]"""
        return self.tokens[self.token_at[text]:self.token_at[text + 1]]

    def groups(self):
        """Decisions of one set about one state. -> (int64 [decisions] in groups, int64 [groups + 1] where each begins)"""
        key = self.sets.astype(np.int64) << 32 | self.state
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        return order, np.append(starts, len(order))

    def _sizes(self):
        """Tokens of each unchanged decision, special tokens included. -> int64 [decisions]"""
        of = self.lengths.astype(np.int64)
        owned = np.concatenate([[0], np.cumsum(of[self.label] + of[self.text] + 3)])
        candidates = owned[self.candidate_at[1:]] - owned[self.candidate_at[:-1]]
        question = of[self.question]
        return of[self.state] + question + 3 + np.where(self.count == 0, 2 * (question + 10), candidates)
