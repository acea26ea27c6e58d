"""Seeded augmentations of decisions that keep the answer correct. They work on token ids.

Each change takes (decision, context) and returns the changed decision, or None where it does not apply.
"""
from dataclasses import dataclass, replace

import numpy as np

from decision import CHOICE, EMPTY, NOUL, Decision, candidates, fill
from store import KINDS

QUESTION_MARK = 1029
SCORE = KINDS.index("score")


@dataclass
class Context:
    """What an augmentation may use: the random generator, the wordings, and states of other decisions."""

    rng: np.random.Generator
    wordings: dict
    other_state: object  # () -> token ids
    other_candidates: object  # () -> [(label, text), ...] further wrong candidates of the decision
    longest: int = 1024

    def wording(self, name):
        choices = self.wordings[name]
        return choices[self.rng.integers(len(choices))]


def paraphrase(d, c):
    return replace(d, question=fill(c.wording("ask_noul" if d.kind == NOUL else "ask"), d.question)) if len(d.question) else None


def negate(d, c):
    """A yes/no question about the opposite."""
    if d.kind != NOUL or not len(d.question):
        return None
    name = "negated_question" if d.question[-1] == QUESTION_MARK else "negated_statement"
    return replace(d, question=fill(c.wording(name), d.question), answer=1 - d.answer)


def describe_outcomes(d, c):
    """A noul whose caller describes its outcomes."""
    if d.kind != NOUL:
        return None
    prefixes = [np.array(w[0][:2], np.uint16) for w in c.wordings["noul"]]
    return replace(d, outcomes=[np.concatenate([p, o]).astype(np.uint16) for p, o in zip(prefixes, c.wording("outcomes"))])


def as_choice(d, c):
    """A noul asked as a choice between two labels."""
    if d.kind != NOUL:
        return None
    labels = [np.array(o, np.uint16) for o in c.wording("outcomes")]
    return replace(d, kind=CHOICE, labels=labels, texts=[EMPTY, EMPTY])


def as_noul(d, c):
    """A choice turned into a noul: is this the right answer?"""
    if d.kind != CHOICE or not len(d.question):
        return None
    right = c.rng.random() < 0.5
    others = [i for i in range(len(d)) if i != d.answer]
    shown = candidates(d, c.wordings)[d.answer if right else others[c.rng.integers(len(others))]]
    question = np.concatenate([fill(c.wording("proposed"), d.question), shown]).astype(np.uint16)
    return Decision(NOUL, d.state, question, [], [], int(right))


def keep(d, indices):
    """The candidates at these indices, in this order; the answer has to be among them."""
    return replace(d, labels=[d.labels[i] for i in indices], texts=[d.texts[i] for i in indices], answer=list(indices).index(d.answer))


def fewer(d, c, at_most=None):
    if d.kind != CHOICE or len(d) < 3:
        return None
    size = at_most or int(c.rng.integers(2, len(d)))
    others = c.rng.permutation([i for i in range(len(d)) if i != d.answer])[:size - 1]
    return keep(d, np.sort([*others, d.answer]).tolist())


def more(d, c):
    """Adds candidates of the same set, only if its labels exclude each other."""
    extra = c.other_candidates() if d.kind == CHOICE else []
    if not extra:
        return None
    return replace(d, labels=d.labels + [label for label, _ in extra], texts=d.texts + [text for _, text in extra])


def none_of_these(d, c):
    """Adds a last candidate "none of these". Sometimes it is the answer, because the right candidate is removed."""
    if d.kind != CHOICE or len(d) < 3 or d.rest:
        return None
    d = replace(d, labels=[*d.labels, np.array(c.wording("none")[0], np.uint16)], texts=[*d.texts, EMPTY])
    if c.rng.random() < 0.6:
        return d
    left = [i for i in range(len(d)) if i != d.answer]
    return replace(d, labels=[d.labels[i] for i in left], texts=[d.texts[i] for i in left], answer=len(left) - 1)


def text_only(d, c):
    return replace(d, form="text") if d.kind == CHOICE else None


def label_only(d, c):
    return replace(d, form="label") if d.kind == CHOICE and not d.trivial else None


def structure(d, c):
    """The state as one field of an object with irrelevant other fields."""
    if not len(d.state):
        return None
    fields = [np.array(c.wording("extra_field")[0], np.uint16) for _ in range(c.rng.integers(0, 3))]
    fields.insert(int(c.rng.integers(len(fields) + 1)), fill(c.wording("state_field"), d.state))
    return replace(d, state=np.concatenate(fields))


def lengthen(d, c):
    """The state among states of other decisions, up to the context's maximum. Lengths are spread over orders of magnitude."""
    return among_others(d, c, int(50 * max(1.0, (c.longest - len(d.state)) / 50) ** c.rng.random()))


def among_others(d, c, room):
    """The state at a random position among about `room` tokens of states of other decisions."""
    if not len(d.state):
        return None
    before, after = [], []
    while room > 30:
        aside = fill(c.wording("aside"), c.other_state()[:room])
        room -= len(aside)
        (before if c.rng.random() < 0.5 else after).append(aside)
    return replace(d, state=np.concatenate([*before, fill(c.wording("main"), d.state), *after]))


def empty_state(d, c):
    """Moves the state into the question, which leaves the state empty."""
    return replace(d, state=EMPTY, question=np.concatenate([d.state, d.question])) if len(d.state) and len(d.question) and len(d.state) < 200 else None


# (augmentation, share of the decisions that it is tried on), in this order, independently
MIX = ((as_noul, 0.04), (more, 0.15), (fewer, 0.12), (none_of_these, 0.06), (as_choice, 0.10), (label_only, 0.07), (text_only, 0.18),
       (negate, 0.08), (paraphrase, 0.12), (describe_outcomes, 0.06))
STATE_MIX = ((structure, 0.06), (lengthen, 0.10))


def drawn(mix, decision, context, strength):
    draws = context.rng.random(len(mix))
    for (change, share), draw in zip(mix, draws):
        if draw < share * strength:
            decision = change(decision, context) or decision
    return decision


def augment(decision, context, strength=1.0):
    """Applies randomly chosen augmentations of question and candidates. -> the changed decision"""
    return drawn(MIX, decision, context, strength)


def augment_state(decisions, context, strength=1.0):
    """Decisions about one state -> the same decisions with the same change of their state"""
    if len(decisions) == 1:
        return [drawn(((empty_state, 0.02), *STATE_MIX), decisions[0], context, strength)]
    state = drawn(STATE_MIX, decisions[0], context, strength).state
    return [replace(d, state=state) for d in decisions]
