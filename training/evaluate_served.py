"""Figures of a running service on decisions, in the format of evaluate.py. The service uses its own texts, tokens, graph and precision.

    decision serve --port 8790 --model-path PACKAGE --precision int8 &
    evaluate_served.py --url http://127.0.0.1:8790 --data DEV.jsonl [--against URL] [--limit N] [--out FIGURES.json]

With --against, a second service (for example in fp32) gets the same requests, and the share of different choices is reported.

Each request has one question. A request that the service refuses (for example as too long) counts as wrong and is reported.
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import urllib.error
import urllib.request

import numpy as np

import metrics
from prepare import YES
from store import KINDS


def request_of(decision):
    """-> the body of a request, and the key of the right answer among the probabilities"""
    candidates, answer = decision["candidates"], decision["answer"]
    question = {"type": decision["type"], "instructions": decision["instructions"]}
    right = str(answer)
    if decision["type"] == "choice":
        question["criteria"] = {str(c["label"]): c["text"] for c in candidates}
        right = str(candidates[answer]["label"])
    if decision["type"] == "score":
        question["criteria"] = [c["text"] for c in candidates]
    if decision["type"] == "noul":
        right = "true" if str(candidates[answer]["label"]).lower() in YES else "false"
    return {"state": decision["state"], "questions": {"q": question}}, right


def ask(url, decision):
    """-> (hit, probability of the choice, -log probability of the answer, the choice), or None if the service refused the request"""
    body, right = request_of(decision)
    request = urllib.request.Request(f"{url}/v1/systemone", json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            shares = json.load(reply)["answers"]["q"]["probabilities"]
    except urllib.error.HTTPError as error:
        print(f"{error.code}: {error.read()[:200].decode()}")
        return None
    if isinstance(shares, list):
        shares = {str(i): share for i, share in enumerate(shares)}
    best = max(shares, key=shares.get)
    return best == right, shares[best], -math.log(max(shares[right], 1e-12)), best


def report(decisions, replies):
    """Prints and returns the figures of one service."""
    hit, confidence, nll = np.array([reply[:3] if reply else (False, 1.0, -math.log(1e-12)) for reply in replies], float).T
    names = sorted({d["set"] for d in decisions})
    outcomes = {"hit": hit, "confidence": confidence, "nll": nll, "sets": np.array([names.index(d["set"]) for d in decisions]),
                "kinds": np.array([KINDS.index(d["type"]) for d in decisions]),
                "answer": np.array([int(request_of(d)[1] == "true") if d["type"] == "noul" else d["answer"] for d in decisions]), "count": np.array([len(d["candidates"]) for d in decisions])}
    figures = metrics.report(outcomes, names, KINDS)
    print(f"{len(decisions)} decisions, {sum(r is None for r in replies)} refused: mean accuracy over {len(names)} sets {figures['mean_accuracy']:.4f}, "
          f"accuracy {figures['all']['accuracy']:.4f}, ECE {figures['all']['ece']:.4f}", flush=True)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--against", metavar="URL")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    decisions = [json.loads(line) for line in options.data.open(encoding="utf-8")][:options.limit]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        asked = lambda url: list(pool.map(lambda d: ask(url, d), decisions))
        replies = asked(options.url)
        figures = report(decisions, replies)
        if options.against:
            others = asked(options.against)
            report(decisions, others)
            differing = sum((a and a[3]) != (b and b[3]) for a, b in zip(replies, others))
            print(f"the two choose differently in {differing} ({100 * differing / len(decisions):.2f} %)")
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
