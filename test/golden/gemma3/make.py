"""Makes the small random packages in this folder, their token ids and scores with the reference library.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/python make.py [name ...]

Each package is served like any other (`decision serve --model-path test/golden/gemma3/five-to-one`). `golden.json` holds, for each pair,
the joint text (unless it is long), its token ids, and the float32 score that `Gemma3TextModel` and a head of plain PyTorch give it, alone. The
script stops if a right-padded batch, or the same in float64, gives another score.

Weights are random but not small: attention is far from uniform, each norm has weights of its own, and scores differ clearly, so that a
mistake anywhere shows.
"""
import argparse
import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import Gemma3ForCausalLM, Gemma3TextConfig, Gemma3TextModel

from decisions import SHORT, joint_text, long_decisions
from export_onnx import export
from gemma_tokenizer import make_tokenizer

HERE = Path(__file__).parent
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Shape:
    name: str
    about: str
    layer_types: list[str]
    hidden: int
    heads: int
    key_value_heads: int
    head_size: int
    inner: int
    window: int
    head_inner: int
    query_scalar: int
    positions: int = 4096
    long_lines: int = 12
    theta: tuple[float, float] = (1_000_000.0, 10_000.0)  # full, sliding
    spelling: str = "new"  # of the rotary bases in config.json: new, old, or pattern (old, and layers by a number)
    prefix: bool = True  # whether tensors are named model.layers... or layers...
    separate_newlines: bool = True
    head_names: tuple[str, str, str] = ("0", "1", "3")
    head_type: torch.dtype = torch.float32
    epsilon: float = 1e-6
    limits: tuple[int, int] = (2048, 768)
    is_export: bool = False  # model.onnx instead of the weights


SLIDING, FULL = "sliding_attention", "full_attention"

SHAPES = [
    Shape(
        "all-sliding", "every layer slides, window of 16", [SLIDING] * 2,
        hidden=32, heads=2, key_value_heads=1, head_size=16, inner=64, window=16, head_inner=24, query_scalar=16,
    ),
    Shape(
        "five-to-one", "seven layers, one of six sees all; old spelling of the rotary bases", [SLIDING] * 5 + [FULL, SLIDING],
        hidden=32, heads=4, key_value_heads=1, head_size=16, inner=64, window=32, head_inner=40, query_scalar=16,
        long_lines=18, spelling="old", head_names=("head.0", "head.1", "head.3"),
    ),
    Shape(
        "all-full", "no layer slides, as many keys as queries, tokens reach across the borders of texts", [FULL] * 3,
        hidden=40, heads=4, key_value_heads=4, head_size=12, inner=56, window=512, head_inner=16, query_scalar=12,
        prefix=False, separate_newlines=False, head_names=("norm", "hidden", "score"), epsilon=1e-5,
    ),
    Shape(
        "alternate", "two queries for each key, a scale of its own, other rotary bases, a head in bfloat16", [SLIDING, FULL] * 2,
        hidden=32, heads=4, key_value_heads=2, head_size=24, inner=48, window=24, head_inner=64, query_scalar=40,
        theta=(50_000.0, 500.0), separate_newlines=False, head_type=torch.bfloat16, long_lines=20,
    ),
    Shape(
        "wide-window", "a window of 256 in texts of several hundred tokens, three queries for each key", [SLIDING, FULL],
        hidden=36, heads=6, key_value_heads=2, head_size=8, inner=40, window=256, head_inner=20, query_scalar=8,
        long_lines=30, prefix=False, spelling="old", positions=1280, limits=(960, 256),
    ),
    Shape(
        "small-270m", "six layers by a pattern of six, as published configurations say it", [SLIDING] * 5 + [FULL],
        hidden=32, heads=4, key_value_heads=1, head_size=32, inner=64, window=48, head_inner=40, query_scalar=32,
        spelling="pattern", head_names=("head.norm", "head.inner", "head.out"),
    ),
    Shape(
        "onnx-export", "a graph of others, which reads whole pairs", [SLIDING, FULL],
        hidden=16, heads=2, key_value_heads=1, head_size=8, inner=24, window=20, head_inner=12, query_scalar=8,
        is_export=True,
    ),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    wanted = parser.parse_args().names
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    for index, shape in enumerate(SHAPES):
        if not wanted or shape.name in wanted:
            make_package(shape, HERE / shape.name, seed=index + 1)


def make_package(shape: Shape, folder: Path, seed: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    tokenizer_json = make_tokenizer(760, shape.separate_newlines)
    (folder / "tokenizer.json").write_text(tokenizer_json, encoding="utf-8")
    tokenizer = Tokenizer.from_str(tokenizer_json)
    torch.manual_seed(seed)
    save_model(shape, folder, tokenizer.get_vocab_size())
    save_head(shape, folder)
    golden = make_golden(shape, folder, tokenizer)
    if shape.is_export:
        export(folder, folder / "model.onnx")
        for name in ("model.safetensors", "joint_head.safetensors"):
            (folder / name).unlink()
    (folder / "golden.json").write_text(json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    write_manifest(shape, folder)
    for file in folder.iterdir():
        file.chmod(0o644)
    scores = [score for each in golden["decisions"] for score in each["scores"]]
    longest = max(len(ids) for each in golden["decisions"] for ids in each["token_ids"])
    bytes_ = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{shape.name}: {len(scores)} pairs of at most {longest} tokens, scores {min(scores):.2f} .. {max(scores):.2f}, {bytes_} bytes")


def save_model(shape: Shape, folder: Path, vocabulary: int) -> None:
    config = Gemma3TextConfig(
        vocab_size=vocabulary,
        hidden_size=shape.hidden,
        intermediate_size=shape.inner,
        num_hidden_layers=len(shape.layer_types),
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.key_value_heads,
        head_dim=shape.head_size,
        max_position_embeddings=shape.positions,
        rms_norm_eps=shape.epsilon,
        query_pre_attn_scalar=shape.query_scalar,
        sliding_window=shape.window,
        layer_types=shape.layer_types,
        rope_parameters={
            FULL: {"rope_type": "default", "rope_theta": shape.theta[0]},
            SLIDING: {"rope_type": "default", "rope_theta": shape.theta[1]},
        },
    )
    model = Gemma3ForCausalLM(config) if shape.prefix else Gemma3TextModel(config)
    for name, parameter in model.named_parameters():
        parameter.copy_(random_weights(name, parameter.shape))
    model.to(torch.bfloat16).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    respell(shape, folder / "config.json")


def random_weights(name: str, shape: torch.Size) -> torch.Tensor:
    if "embed_tokens" in name or "lm_head" in name:
        return torch.randn(shape) / shape[1] ** 0.5
    if name.endswith(("q_norm.weight", "k_norm.weight")):
        return 0.5 + 0.4 * torch.randn(shape)  # spreads the logits of attention
    if len(shape) == 1:
        return 0.4 * torch.randn(shape)
    return 1.3 * torch.randn(shape) / shape[1] ** 0.5


def respell(shape: Shape, file: Path) -> None:
    """Older versions of the library wrote the rotary bases in other words, and these stand in published files."""
    if shape.spelling == "new":
        return
    config = json.loads(file.read_text())
    rotary = config.pop("rope_parameters")
    config["rope_theta"] = rotary[FULL]["rope_theta"]
    config["rope_local_base_freq"] = rotary[SLIDING]["rope_theta"]
    config["rope_scaling"] = None
    if shape.spelling == "pattern":
        del config["layer_types"]
        config["sliding_window_pattern"] = 6
    config["torch_dtype"] = config.pop("dtype")
    file.write_text(json.dumps(config, indent=2) + "\n")


def save_head(shape: Shape, folder: Path) -> None:
    norm, inner, out = shape.head_names
    h, m = shape.hidden, shape.head_inner
    tensors = {
        f"{norm}.weight": 1 + 0.3 * torch.randn(h),
        f"{norm}.bias": 0.3 * torch.randn(h),
        f"{inner}.weight": torch.randn(m, h) * 1.5 / h**0.5,
        f"{inner}.bias": 0.5 * torch.randn(m),
        f"{out}.weight": torch.randn(1, m) * 3 / m**0.5,
        f"{out}.bias": torch.randn(1),
    }
    save_file({name: tensor.to(shape.head_type) for name, tensor in tensors.items()}, folder / "joint_head.safetensors")


class Reference:
    """The package in the reference library, its configuration changed on demand."""

    def __init__(self, shape: Shape, folder: Path, dtype: torch.dtype, **changes):
        config = Gemma3TextConfig.from_pretrained(folder)
        assert config.layer_types == shape.layer_types
        for name, value in changes.items():
            setattr(config, name, value)
        self.model = Gemma3TextModel.from_pretrained(folder, config=config, dtype=dtype, attn_implementation="eager").eval()
        head = load_file(folder / "joint_head.safetensors")
        norm, inner, out = shape.head_names
        self.head = torch.nn.Sequential(
            torch.nn.LayerNorm(shape.hidden, eps=1e-5),
            torch.nn.Linear(shape.hidden, shape.head_inner),
            torch.nn.GELU(),
            torch.nn.Linear(shape.head_inner, 1),
        ).to(dtype)
        names = {"0": norm, "1": inner, "3": out}
        self.head.load_state_dict({f"{at}.{part}": head[f"{name}.{part}"].to(dtype) for at, name in names.items() for part in ("weight", "bias")})

    def score(self, ids: list[list[int]]) -> list[float]:
        """Scores of pairs, padded on the right where they differ in length."""
        longest = max(len(each) for each in ids)
        padded = torch.tensor([each + [0] * (longest - len(each)) for each in ids])
        mask = torch.tensor([[1] * len(each) + [0] * (longest - len(each)) for each in ids])
        hidden = self.model(input_ids=padded, attention_mask=mask).last_hidden_state
        last = hidden[torch.arange(len(ids)), mask.sum(1) - 1]
        return self.head(torch.nn.functional.normalize(last, dim=-1, eps=1e-12)).squeeze(-1).tolist()


def make_golden(shape: Shape, folder: Path, tokenizer: Tokenizer) -> dict:
    single, double = Reference(shape, folder, torch.float32), Reference(shape, folder, torch.float64)
    decisions = []
    for each in SHORT + long_decisions(shape.long_lines):
        texts = [joint_text(each["state"], each["question"], candidate) for candidate in each["candidates"]]
        ids = [tokenizer.encode(text).ids for text in texts]
        assert all(row[0] == 2 and len(row) < shape.positions for row in ids)
        alone = [single.score([row])[0] for row in ids]
        exact = [double.score([row])[0] for row in ids]  # alone: the library's masks are not made for float64
        for what, others, bound in [("batch", single.score(ids), TOLERANCE / 5), ("float64", exact, TOLERANCE / 3)]:
            off = max(abs(a - b) for a, b in zip(alone, others))
            assert off < bound, f"{shape.name}: {what} is off by {off}"
        shown = {"texts": texts} if len(texts[0]) < 1000 else {}  # the long ones would be most of the file
        decisions.append(each | shown | {"token_ids": ids, "scores": alone})
    check_sensitivity(shape, folder, decisions)
    return {
        "about": f"{shape.about}; float32 scores of random weights, tolerance {TOLERANCE}",
        "tool": f"transformers {transformers.__version__}, PyTorch {torch.__version__}, CPU",
        "decisions": decisions,
    }


def check_sensitivity(shape: Shape, folder: Path, decisions: list[dict]) -> None:
    """A graph that got one of these wrong must not pass."""
    theta = {FULL: shape.theta[0], SLIDING: shape.theta[1]}
    other = {SLIDING: FULL, FULL: SLIDING}
    changes = {
        "query scale": {"query_pre_attn_scalar": shape.query_scalar + 1},
        "epsilon": {"rms_norm_eps": shape.epsilon * 100},
    }
    for kind in set(shape.layer_types):
        rotary = {each: {"rope_type": "default", "rope_theta": theta[each] * (1.1 if each == kind else 1)} for each in theta}
        changes[f"rotary base, {kind}"] = {"rope_parameters": rotary}
    if SLIDING in shape.layer_types:
        changes["window + 1"] = {"sliding_window": shape.window + 1}
        changes["window - 1"] = {"sliding_window": shape.window - 1}
    if len(set(shape.layer_types)) == 2:
        for i in (0, len(shape.layer_types) - 1):
            flipped = [other[kind] if at == i else kind for at, kind in enumerate(shape.layer_types)]
            changes[f"kind of layer {i}"] = {"layer_types": flipped}
    rows = [(ids, score) for each in decisions for ids, score in zip(each["token_ids"], each["scores"])]
    for what, change in changes.items():
        wrong = Reference(shape, folder, torch.float32, **change)
        off = max(abs(wrong.score([ids])[0] - score) for ids, score in rows)
        assert off > 5 * TOLERANCE, f"{shape.name}: {what} changes no score by more than {off}"


def write_manifest(shape: Shape, folder: Path) -> None:
    files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}
    lines = "".join(f"{digest}  {name}\n" for name, digest in files.items())
    revision = hashlib.sha256(lines.encode()).hexdigest()[:40]
    architecture = {"type": "gemma3-text-joint"}
    if shape.is_export:
        architecture = {"type": "onnx-joint-pairs", "max_tokens": 3072, "pad_id": 0, "bos_id": 2}
    manifest = {
        "format": "typed-decisions-model-v1",
        "id": f"typed-decisions-test/{shape.name}@{revision}",
        "aliases": [f"test-{shape.name}"],
        "version": "v0",
        "release_date": "2026-11-21",
        "description": f"Random weights, for tests only: {shape.about}",
        "temperature": 4.136820402388508,
        "shows_labels": False,
        "architecture": architecture,
        "limits": {"max_state_question_tokens": shape.limits[0], "max_candidate_tokens": shape.limits[1]},
        "files": files,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
