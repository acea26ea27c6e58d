"""Scores of single pairs by the makers' own model: training/model.py in float32 for the embedded package.

    python makers_scores.py PACKAGE < [{"state": [ids], "question": [ids], "candidate": [ids]}, ...]    prints a list of scores
"""

import json
import os
import struct
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../training"))
from model import TokenTreeRanker  # noqa: E402

DTYPES = {"F16": torch.float16, "F32": torch.float32}


def weights(file):
    with open(file, "rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(length))
        data = bytearray(stream.read())
    for name, place in header.items():
        if name != "__metadata__":
            begin, end = place["data_offsets"]
            yield name, torch.frombuffer(data[begin:end], dtype=DTYPES[place["dtype"]]).reshape(place["shape"]).float()


def score(model, pair):
    parts = [pair["state"], pair["question"], pair["candidate"]]
    row = lambda values: torch.tensor([[value for each, part in zip(values, parts) for value in [each] * len(part)]])
    ids = torch.tensor([[token for part in parts for token in part]])
    position = torch.tensor([[place for part in parts for place in range(len(part))]])
    first = torch.tensor([[len(parts[0]) + len(parts[1])]])
    return model(ids, position, row([0, 1, 2]), row([0, 1, 2]), row([0, 1, 1]), first).item()


def main():
    torch.set_grad_enabled(False)
    with open(os.path.join(sys.argv[1], "manifest.json"), encoding="utf8") as file:
        shape = json.load(file)["architecture"]
    names = ("vocab", "hidden", "heads", "inner", "layers", "positions")
    model = TokenTreeRanker(**{name: shape[name] for name in names}).eval()
    model.load_state_dict(dict(weights(os.path.join(sys.argv[1], "model.safetensors"))))
    print(json.dumps([score(model, pair) for pair in json.load(sys.stdin)]))


main()
