"""Exports trained weights as a model package.

    export.py --weights OUT/model.safetensors --tokenizer TOKENIZER.json --out model --name NAMESPACE/NAME --alias ALIAS
              --version V --date YYYY-MM-DD --description TEXT [--trained-on JSON]

model.safetensors has the weights on the service's int8 grid (snap.py), as int8. golden.json has the float32 scores of these
stored weights. The revision is the beginning of the SHA-256 over the digests of all files except the manifest and
README.md (card.py).
"""
import argparse
import hashlib
import json
import pathlib

import torch
from tokenizers import Tokenizer

import weights
from golden import golden
from model import TEMPERATURE
from snap import pack

FILES = ("golden.json", "model.safetensors", "tokenizer.json")
LIMITS = {"max_state_question_tokens": 2048, "max_candidate_tokens": 768}


def revision_of(folder):
    """-> ({file name: SHA-256}, revision)"""
    files = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES}
    lines = "".join(f"{digest}  {name}\n" for name, digest in files.items())
    return files, hashlib.sha256(lines.encode()).hexdigest()[:40]


def write_tokenizer(source, target):
    spec = json.loads(source.read_text(encoding="utf-8"))
    spec["truncation"] = spec["padding"] = None
    target.write_text(json.dumps(spec, ensure_ascii=False), encoding="utf-8")


def export(options):
    """-> the package's id"""
    out = options.out
    out.mkdir(parents=True, exist_ok=True)
    weights.save(pack(weights.load(options.weights)), out / "model.safetensors")
    write_tokenizer(options.tokenizer, out / "tokenizer.json")
    model = weights.model_of(weights.load(out / "model.safetensors")).eval()
    scored = golden(model, Tokenizer.from_file(str(out / "tokenizer.json")))
    about = {"about": "float32 scores of the stored weights, tolerance 1e-3", "tool": f"PyTorch {torch.__version__}, CPU", "decisions": scored}
    (out / "golden.json").write_text(json.dumps(about, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    files, revision = revision_of(out)
    manifest = {"format": "typed-decisions-model-v1", "id": f"{options.name}@{revision}",
                "aliases": [options.name, options.name.split("/")[1], options.alias], "version": options.version, "release_date": options.date,
                "description": options.description, "temperature": TEMPERATURE, "shows_labels": True,
                "architecture": {"type": "bert-token-tree", **model.architecture, "layer_norm_epsilon": 1e-12, "activation": "gelu_exact"},
                "limits": LIMITS, **({"trained_on": options.trained_on} if options.trained_on else {}), "files": files}
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False), encoding="utf-8")
    return manifest["id"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, kind in (("weights", str), ("tokenizer", pathlib.Path), ("out", pathlib.Path), ("name", str), ("alias", str), ("version", str),
                       ("date", str), ("description", str)):
        parser.add_argument(f"--{name}", type=kind, required=True)
    parser.add_argument("--trained-on", type=json.loads, help='such as {"max_state_tokens": 1024, "language": "en"}')
    print(export(parser.parse_args()))


if __name__ == "__main__":
    main()
