"""Figures of a model on prepared decisions, as JSON.

    evaluate.py --weights MODEL.safetensors --data DEV.shard [--only SET,SET | --without SET,SET] [--sample N] [--long TOKENS] [--out FIGURES.json]

Texts are rendered as in the service (labels shown), without augmentation; only what exceeds the model's limits is
truncated. Probabilities are softmax(score / TEMPERATURE), as in the contract. With --long, each state is placed among
states of other decisions, the same ones in every run.
"""
import argparse
import json
import time

import numpy as np
import torch

import metrics
import weights
from augment import Context, among_others
from batches import arrays, plan, tensors
from decision import read, row
from device import autocast, choose
from model import TEMPERATURE, scores
from store import KINDS, Store

LIMITS = (2048, 2048, 768)
TOGETHER = 8  # maximum number of questions about one state per row


def sample(store, n, seed=5):
    """About n decisions, equally many of each set, the same ones in every run. -> indices, int64"""
    rng = np.random.default_rng(seed)
    members = [rng.permutation(np.flatnonzero(store.sets == k)) for k in range(len(store.names))]
    each = max(1, n // len(members))
    return np.sort(np.concatenate([m[:each] for m in members]))


def of_sets(store, only, without):
    """Decisions of these sets, or of all other sets. -> indices, int64"""
    unknown = (set(only) | set(without)) - set(store.names)
    if unknown:
        raise SystemExit(f"no such set: {', '.join(sorted(unknown))}")
    wanted = [k for k, name in enumerate(store.names) if (not only or name in only) and name not in without]
    return np.flatnonzero(np.isin(store.sets, wanted))


def asked(store, i, long):
    """Decision i unchanged, or with its state among others, so that it has about `long` tokens."""
    decision, rng = read(store, i), np.random.default_rng([11, int(i)])
    context = Context(rng, store.wordings, lambda: store.ids(store.state[rng.integers(len(store))]), None)
    return among_others(decision, context, long - len(decision.state)) or decision if long else decision


def packed(store, indices, long):
    """Rows of decisions that share a state, and the decisions of each row. -> [Row], [int64 array]"""
    rows, members, groups = [], [], {}
    for i in indices:
        groups.setdefault((int(store.sets[i]), int(store.state[i]), int(i) if long else 0), []).append(i)
    for group in groups.values():
        for at in range(0, len(group), TOGETHER):
            members.append(np.array(group[at:at + TOGETHER]))
            rows.append(row([asked(store, i, long) for i in members[-1]], store.wordings, LIMITS))
    return rows, members


def outcomes(model, store, device, *, indices=None, budget=16384, bf16=True, long=0):
    """The model's results for decisions. -> dict of arrays [decisions] for metrics.report, and `chosen`, `answer`"""
    indices = np.arange(len(store)) if indices is None else indices
    rows, members = packed(store, indices, long)
    place = np.full(len(store), -1)
    place[indices] = np.arange(len(indices))
    made = {name: np.zeros(len(indices)) for name in ("hit", "confidence", "nll", "count", "chosen", "answer")}
    was_training = model.training
    model.eval()
    with torch.inference_mode():
        for batch in plan(np.array([len(r.tokens) for r in rows]), budget):
            at = place[np.concatenate([members[i] for i in batch])]
            held = tensors(arrays([rows[i] for i in batch]), device)
            with autocast(device, bf16):
                logits = scores(model, held)
            p = torch.softmax(logits / TEMPERATURE, -1)
            best = p.max(-1)
            made["hit"][at] = (best.indices == held["answer"]).cpu()
            made["confidence"][at] = best.values.cpu()
            made["nll"][at] = -p.gather(1, held["answer"][:, None])[:, 0].clamp_min(1e-12).log().cpu()
            made["count"][at] = held["real"].sum(-1).cpu()
            made["chosen"][at], made["answer"][at] = best.indices.cpu(), held["answer"].cpu()
    model.train(was_training)
    return {**made, "sets": store.sets[indices], "kinds": store.kinds[indices]}


def evaluate(model, store, device, **options):
    """-> figures of metrics.report"""
    return metrics.report(outcomes(model, store, device, **options), store.names, KINDS)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--data", required=True, nargs="+")
    commas = lambda text: text.split(",")
    parser.add_argument("--only", type=commas, default=[], metavar="SET,SET")
    parser.add_argument("--without", type=commas, default=[], metavar="SET,SET")
    parser.add_argument("--sample", type=int, default=0, help="number of decisions (approximate), equally many of each set")
    parser.add_argument("--long", type=int, default=0, metavar="TOKENS", help="put each state among others, so that it has about this many tokens")
    parser.add_argument("--out")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--fp32", action="store_true", help="do not use bf16, even if the machine supports it")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    device = choose()
    store = Store(options.data)
    model = weights.model_of(weights.load(options.weights)).to(device)
    start = time.perf_counter()
    figures = evaluate(model, store, device, indices=sample(store, options.sample) if options.sample else of_sets(store, options.only, options.without),
                       bf16=not options.fp32, long=options.long)
    seconds = time.perf_counter() - start
    yes, no = figures["balance"].values()
    print(f"true statements answered yes {yes:.3f}, false ones answered no {no:.3f}" if yes is not None and no is not None else "no yes/no questions of both kinds")
    print(f"{figures['all']['n']} decisions in {seconds:.0f} s: mean accuracy over {len(figures['sets'])} sets {figures['mean_accuracy']:.4f}, "
          f"accuracy {figures['all']['accuracy']:.4f}, ECE {figures['all']['ece']:.4f}, NLL {figures['all']['nll']:.4f}")
    for group in ("types", "candidates", "sets"):
        for name, f in figures[group].items():
            print(f"  {group[:-1]:9s} {name:24s} n {f['n']:5d}  accuracy {f['accuracy']:.3f}  ECE {f['ece']:.3f}")
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
