"""A decision as token ids, between the store and a row of the model.

The ids are those of the texts that the service renders: BERT's pre-tokenizer splits at all white space and punctuation,
so ids of parts that meet there can be joined without tokenizing again.
"""
from dataclasses import dataclass, field

import numpy as np

from store import KINDS

CLS, SEP = 101, 102
NOUL = KINDS.index("noul")
CHOICE = KINDS.index("choice")
EMPTY = np.zeros(0, np.uint16)


@dataclass
class Decision:
    """Token ids without special tokens; `answer` is an index of the candidates (0 false, 1 true for a noul)."""

    kind: int
    state: np.ndarray
    question: np.ndarray
    labels: list
    texts: list
    answer: int
    trivial: bool = False  # the label has no meaning of its own
    rest: bool = False  # the candidate means "anything else"
    outcomes: list = field(default_factory=list)
    form: str = "both"

    def __len__(self):
        return 2 if self.kind == NOUL else len(self.texts)


def read(store, i):
    """Decision i of a store, unchanged."""
    at, end = store.candidate_at[i], store.candidate_at[i + 1]
    labels, texts = store.label[at:end], store.text[at:end]
    return Decision(int(store.kinds[i]), store.ids(store.state[i]), store.ids(store.question[i]),
                    [store.ids(t) for t in labels], [store.ids(t) for t in texts], int(store.answers[i]),
                    bool(store.trivial[labels].any()), bool((store.rest[labels] | store.rest[texts]).any()))


def fill(wording, ids):
    """The token ids of a wording with `ids` in its gap."""
    before, after = wording
    return np.concatenate([np.array(before, np.uint16), ids, np.array(after, np.uint16)])


def candidates(decision, wordings):
    """Token ids of each candidate; rendered like in the service if `form` is "both". -> list of arrays"""
    if decision.kind == NOUL:
        if decision.outcomes:
            return decision.outcomes
        if not len(decision.question):
            return [np.array(w[0][:1], np.uint16) for w in wordings["noul"]]
        return [fill(wording, decision.question) for wording in wordings["noul"]]
    shows_label = decision.kind == CHOICE and decision.form != "text"
    colon = wordings["colon"][0][0]
    out = []
    for label, text in zip(decision.labels, decision.texts):
        if not len(text) or decision.form == "label":
            out.append(label)
        else:
            out.append(np.concatenate([label, colon, text]).astype(np.uint16) if shows_label else text)
    if decision.form != "both" and len({c.tobytes() for c in out}) < len(out):
        decision.form = "both"
        return candidates(decision, wordings)
    return out


@dataclass
class Row:
    """Tokens of one state and its questions. `lengths` has one entry per part: the state, then each question followed
    by its candidates. `counts` (candidates) and `answers` have one entry per question."""

    tokens: np.ndarray
    lengths: list
    counts: list
    answers: list


def row(decisions, wordings, limits, below=None):
    """The row of decisions that share the first one's state. Decisions that would exceed `below` tokens besides the
    state are left out, except the first.

    limits: (tokens of the state, of the question, of a candidate), special tokens included.
    """
    made = Row(None, [], [], [])
    parts = [np.array([CLS, *decisions[0].state[:limits[0] - 2], SEP], np.uint16)]
    taken = 0
    for decision in decisions:
        own = [np.array([*decision.question[:limits[1] - 1], SEP], np.uint16)]
        own += [np.concatenate([[CLS], ids[:limits[2] - 2], [SEP]]).astype(np.uint16) for ids in candidates(decision, wordings)]
        size = sum(map(len, own))
        if below is not None and made.counts and taken + size > below:
            continue
        taken += size
        parts += own
        made.counts.append(len(own) - 1)
        made.answers.append(decision.answer)
    made.tokens, made.lengths = np.concatenate(parts), [len(part) for part in parts]
    return made
