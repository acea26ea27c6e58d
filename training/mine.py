"""Finds the wrong labels that a model confuses with the right one: hard negatives for the next training.

    mine.py --weights MODEL.safetensors --data SHARD ... --out CONFUSED.json [--each N]

For N decisions of each right label (of the sets in pools.py), all wrong labels are scored together with it. The output
has, for each right label, the wrong labels by mean probability, highest first.
"""
import argparse
import json

import numpy as np
import torch

import weights
from batches import arrays, plan, tensors
from decision import read, row
from device import autocast, choose
from model import TEMPERATURE, scores
from pools import Pools
from store import Store

LIMITS = (256, 128, 64)
HARDEST = 16


def asked(store, pools, each, rng):
    """-> [(decision, right label, wrong labels)], each label at most `each` times"""
    seen, out = {}, []
    for i in rng.permutation(len(store)):
        at, end = store.candidate_at[i], store.candidate_at[i + 1]
        if at == end or store.trivial[store.label[at:end]].any():
            continue
        right = int(store.same[store.label[at + store.answers[i]]])
        if right in pools.wrong and seen.get(right, 0) < each:
            seen[right] = seen.get(right, 0) + 1
            out.append((i, right, pools.candidates(right)))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--data", nargs="+", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--each", type=int, default=8)
    options = parser.parse_args()
    device, store, rng = choose(), Store(options.data), np.random.default_rng(3)
    pools, model = Pools(store), weights.model_of(weights.load(options.weights)).to(device).eval()
    questions = asked(store, pools, options.each, rng)
    rows = []
    for i, right, wrong in questions:
        d = read(store, i)
        extra = [pools.spelled(name, rng) for name in wrong]
        d.labels, d.texts = [d.labels[d.answer], *(label for label, _ in extra)], [d.texts[d.answer], *(text for _, text in extra)]
        d.answer = 0
        rows.append(row([d], store.wordings, LIMITS))
    total = {}
    with torch.inference_mode():
        for batch in plan(np.array([len(r.tokens) for r in rows]), 16384):
            with autocast(device):
                logits = scores(model, tensors(arrays([rows[n] for n in batch]), device))
            shares = torch.softmax(logits / TEMPERATURE, -1).cpu().numpy()
            for n, share in zip(batch, shares):
                _, right, wrong = questions[n]
                of = total.setdefault(right, {})
                for name, p in zip(wrong, share[1:]):
                    of[name] = of.get(name, 0.0) + float(p)
    hardest = {right: sorted(of, key=of.get, reverse=True)[:HARDEST] for right, of in total.items()}
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(hardest, file)
    print(f"{len(rows)} decisions, {len(hardest)} right labels")


if __name__ == "__main__":
    main()
