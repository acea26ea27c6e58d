"""Accuracy and calibration of probabilities."""
import numpy as np

BINS = 15
SIZES = ((2, 2), (3, 3), (4, 5), (6, 10), (11, 20), (21, 64))


def curve(hit, confidence, bins=BINS):
    """Calibration curve with bins of equal width. -> [{from, to, n, accuracy, confidence}] of the non-empty bins"""
    bin_of = np.minimum((confidence * bins).astype(int), bins - 1)
    return [{"from": k / bins, "to": (k + 1) / bins, "n": int((bin_of == k).sum()), "accuracy": float(hit[bin_of == k].mean()),
             "confidence": float(confidence[bin_of == k].mean())} for k in range(bins) if (bin_of == k).any()]


def ece(hit, confidence):
    """Expected calibration error of the chosen candidates over BINS bins of equal width."""
    return sum(abs(b["accuracy"] - b["confidence"]) * b["n"] for b in curve(hit, confidence)) / max(1, len(hit))


def summary(hit, confidence, nll):
    return {"n": len(hit), "accuracy": float(hit.mean()), "ece": ece(hit, confidence), "nll": float(nll.mean()),
            "mean_confidence": float(confidence.mean())}


def report(outcomes, names, kinds):
    """outcomes: dict of arrays [decisions] hit, confidence, nll, sets, kinds, count, answer. -> JSON-able figures"""
    of = lambda chosen: summary(*(outcomes[name][chosen] for name in ("hit", "confidence", "nll")))
    sets = {name: of(outcomes["sets"] == k) for k, name in enumerate(names) if (outcomes["sets"] == k).any()}
    sizes = {f"{a}-{b}" if a < b else str(a): (outcomes["count"] >= a) & (outcomes["count"] <= b) for a, b in SIZES}
    yes_no = outcomes["kinds"] == kinds.index("noul")
    balance = {name: float(outcomes["hit"][yes_no & (outcomes["answer"] == answer)].mean()) if (yes_no & (outcomes["answer"] == answer)).any() else None
               for name, answer in (("true_answered_yes", 1), ("false_answered_no", 0))}
    return {"balance": balance, "mean_accuracy": float(np.mean([s["accuracy"] for s in sets.values()])), "all": of(slice(None)),
            "curve": curve(outcomes["hit"], outcomes["confidence"]),
            "types": {kind: {**of(outcomes["kinds"] == k), "curve": curve(outcomes["hit"][outcomes["kinds"] == k], outcomes["confidence"][outcomes["kinds"] == k])}
                      for k, kind in enumerate(kinds) if (outcomes["kinds"] == k).any()},
            "candidates": {name: of(chosen) for name, chosen in sizes.items() if chosen.any()}, "sets": sets}
