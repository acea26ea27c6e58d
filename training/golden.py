"""Golden scores: our own decisions with the float32 scores of the stored weights."""
import numpy as np
import torch

from batches import arrays, tensors
from decision import CLS, SEP, Row
from golden_inputs import decisions
from model import scores
from texts import choice_text, noul_texts, state_text, to_text


def texts(decision):
    """The texts of a decision as the service renders them, with labels shown. -> state, question, [candidate]"""
    question = to_text(decision["instructions"]).strip()
    if decision["type"] == "noul":
        return state_text(decision["state"]), question, noul_texts(question)
    shown = decision["type"] == "choice"
    candidates = [choice_text(c["label"], c["text"], shown) for c in decision["candidates"]]
    return state_text(decision["state"]), question, candidates


def golden(model, tokenizer):
    """Scores each decision separately, without truncation. -> [{type, state, question, candidates, token_ids, scores}]"""
    ids = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    made = []
    for decision in decisions():
        state, question, candidates = texts(decision)
        parts = [[CLS, *ids(state), SEP], [*ids(question), SEP], *([CLS, *ids(c), SEP] for c in candidates)]
        row = Row(np.array([t for part in parts for t in part], np.uint16), [len(part) for part in parts], [len(candidates)], [0])
        with torch.inference_mode():
            found = scores(model, tensors(arrays([row]), "cpu"))[0].tolist()
        made.append({"type": decision["type"], "state": state, "question": question, "candidates": candidates,
                     "token_ids": {"state": parts[0], "question": parts[1], "candidates": parts[2:]}, "scores": found})
    return made
