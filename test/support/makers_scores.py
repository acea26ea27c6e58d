"""Scores of single pairs by the makers' own model: training/model.py in float32 for the embedded package.

    python makers_scores.py PACKAGE < [{"state": [ids], "question": [ids], "candidate": [ids]}, ...]    prints a list of scores
"""

import json
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../training"))
import weights  # noqa: E402


def score(model, pair):
    parts = [pair["state"], pair["question"], pair["candidate"]]
    row = lambda values: torch.tensor([[value for each, part in zip(values, parts) for value in [each] * len(part)]])
    ids = torch.tensor([[token for part in parts for token in part]])
    position = torch.tensor([[place for part in parts for place in range(len(part))]])
    first = torch.tensor([[len(parts[0]) + len(parts[1])]])
    return model(ids, position, row([0, 1, 2]), row([0, 1, 2]), row([0, 1, 1]), first).item()


def main():
    torch.set_grad_enabled(False)
    model = weights.model_of(weights.load(os.path.join(sys.argv[1], "model.safetensors"))).eval()
    print(json.dumps([score(model, pair) for pair in json.load(sys.stdin)]))


main()
