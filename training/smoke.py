"""Tests the whole pipeline on about a hundred decisions: prepare, train, resume, evaluate, export, card.

    smoke.py --data FOLDER_OR_FILE --tokenizer TOKENIZER.json --init MODEL.safetensors --out DIR [--manifest MANIFEST.json]

Checks that a resumed run ends with the same weights as an uninterrupted one, that joined token ids equal those of the
joined text, and that the package's golden scores are those of its weights. The last line is OK. Takes a minute.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import torch
from tokenizers import Tokenizer

import weights
from decision import read, row
from golden import golden, texts
from golden_inputs import decisions
from snap import pack, unpack
from store import Store
from train import rate

HERE = pathlib.Path(__file__).parent


def call(script, *arguments):
    subprocess.run([sys.executable, HERE / script, *map(str, arguments)], check=True)


def same_ids(out, tokenizer_path):
    """Checks that token ids joined from a store equal the tokenizer's ids of the service's texts."""
    file = out / "golden.jsonl"
    file.write_text("".join(json.dumps(d) + "\n" for d in decisions()), encoding="utf-8")
    call("prepare.py", "--tokenizer", tokenizer_path, "--out", out / "golden", f"golden={file}")
    store, tokenizer = Store([out / "golden" / "0.shard"]), Tokenizer.from_file(str(tokenizer_path))
    tokenizer.no_truncation()
    ids = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    kept = [d for d in decisions() if len({c["text"] or c["label"] for c in d["candidates"]}) == len(d["candidates"]) or d["type"] == "noul"]
    assert len(kept) == len(store), "prepare.py refused a sound decision"
    for i, decision in enumerate(kept):
        state, question, candidates = texts(decision)
        wanted = [t for part in ([101, *ids(state), 102], [*ids(question), 102], *([101, *ids(c), 102] for c in candidates)) for t in part]
        found = row([read(store, i)], store.wordings, (4096, 4096, 4096)).tokens
        assert np.array_equal(found, wanted), f"other token ids: {question}"


def same_weights(a, b):
    one, other = weights.load(a), weights.load(b)
    assert one.keys() == other.keys()
    for name in one:
        assert torch.equal(one[name], other[name]), f"{name} differs after going on"


def on_grid(path):
    """Checks that snapping again does not change the package's weights. test/models/embedded-weights.deep.test.ts checks
    that the grid is the service's."""
    stored = weights.load(path)
    for name, tensor in unpack(pack(stored)).items():
        assert (tensor - stored[name]).norm() <= 1e-3 * tensor.norm(), f"{name} is not on the grid"


def in_parts(path, out):
    """Checks that split weights join to nearly the same."""
    call("parts.py", "split", path, out / "split")
    call("parts.py", "join", out / "split", out / "joined.safetensors")
    whole, joined = weights.load(path), weights.load(out / "joined.safetensors")
    assert whole.keys() == joined.keys()
    for name in whole:
        assert (whole[name] - joined[name]).norm() <= 0.02 * whole[name].norm(), f"{name} differs after split and join"


def falls_at_the_end():
    shares = [rate(progress, 0.1, 0.3) for progress in (0, 0.05, 0.1, 0.5, 0.7, 0.8, 1, 1.1)]
    assert shares[:5] == [0, 0.5, 1, 1, 1] and 0 < shares[5] < 1 and shares[6:] == [0, 0], shares


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "tokenizer", "init", "out"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--manifest", type=pathlib.Path, help="of the data sets, for the card")
    options = parser.parse_args()
    out = options.out
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    falls_at_the_end()
    same_ids(out, options.tokenizer)
    call("prepare.py", "--tokenizer", options.tokenizer, "--out", out / "data", "--shards", 2, "--limit", 3, options.data)
    shards = [out / "data" / "0.shard", out / "data" / "1.shard"]
    train = lambda folder, steps: call("train.py", "--data", *shards, "--init", options.init, "--out", out / folder, "--steps", steps, "--chunk", 64,
                                       "--budget", 1024, "--accumulate", 2, "--minutes", 5, "--constant", "--limits", 128, 64, 32, "--longest-row", 512)
    train("whole", 10)
    train("parts", 6)
    train("parts", 4)
    same_weights(out / "whole" / "model.safetensors", out / "parts" / "model.safetensors")
    call("evaluate.py", "--weights", out / "parts" / "model.safetensors", "--data", shards[0], "--out", out / "figures.json")
    call("export.py", "--weights", out / "parts" / "model.safetensors", "--tokenizer", options.tokenizer, "--out", out / "package",
         "--name", "smoke/Smoke-1", "--alias", "smoke", "--version", "v0", "--date", "2026-01-01", "--description", "Of the smoke test")
    on_grid(out / "package" / "model.safetensors")
    in_parts(out / "package" / "model.safetensors", out)
    stored = json.loads((out / "package" / "golden.json").read_text(encoding="utf-8"))["decisions"]
    again = golden(weights.model_of(weights.load(out / "package" / "model.safetensors")).eval(), Tokenizer.from_file(str(out / "package" / "tokenizer.json")))
    assert stored == again, "golden scores are not those of the stored weights"
    if options.manifest:
        (out / "notes.md").write_text("Made by the smoke test.\n", encoding="utf-8")
        call("card.py", "--package", out / "package", "--part", f"All={out / 'figures.json'}", "--data", options.manifest, "--notes", out / "notes.md")
    print("OK")


if __name__ == "__main__":
    main()
