"""Writes a random model of the size of the published 270M one, its tokenizer's size included, for measurements. Some 560 MB.

    venv/bin/python full_size.py FOLDER            the package
    venv/bin/python full_size.py FOLDER --export   and FOLDER-onnx, the same weights as a graph that reads whole pairs (1.1 GB)

Neither is to be committed. golden.json holds a few scores of the reference library.
"""

import argparse
import itertools
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import Gemma3TextConfig

from decisions import SHORT, joint_text, long_decisions
from export_onnx import export
from gemma_tokenizer import make_tokenizer
from make import FULL, SLIDING, Reference, Shape, random_weights, respell, save_head, write_manifest

SHAPE = Shape(
    "full-size", "the shape of the 270M model", ([SLIDING] * 5 + [FULL]) * 3,
    hidden=640, heads=4, key_value_heads=1, head_size=256, inner=2048, window=512, head_inner=512, query_scalar=256,
    positions=32_768, spelling="old",
)
VOCABULARY = 262_144


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--export", action="store_true")
    given = parser.parse_args()
    torch.set_grad_enabled(False)
    torch.manual_seed(270)
    make_folder(given.folder)
    tokenizer_json = large_tokenizer()
    (given.folder / "tokenizer.json").write_text(tokenizer_json, encoding="utf-8")
    save_config(given.folder)
    save_file(dict(random_tensors()), given.folder / "model.safetensors", metadata={"format": "pt"})
    save_head(SHAPE, given.folder)
    golden = make_golden(given.folder, Tokenizer.from_str(tokenizer_json))
    (given.folder / "golden.json").write_text(json.dumps(golden, separators=(",", ":")))
    write_manifest(SHAPE, given.folder)
    print(f"{given.folder}: {sum(file.stat().st_size for file in given.folder.iterdir())} bytes")
    if given.export:
        make_export(given.folder, given.folder.with_name(f"{given.folder.name}-onnx"))


def make_folder(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def large_tokenizer() -> str:
    """The small one, and pairs of its words until it has as many tokens as Gemma's."""
    file = json.loads(make_tokenizer(760, separate_newlines=True))
    vocabulary, merges = file["model"]["vocab"], file["model"]["merges"]
    letters = [chr(code) for code in range(97, 123)]
    words = sorted({a + b for a, b in merges if (a + b).isalpha()}) + letters
    pairs = ([a, b] for a, b in itertools.product(words, words))
    triples = ([a + b, c] for a, b, c in itertools.product(words, words, letters))
    for left, right in itertools.chain(pairs, triples):
        if len(vocabulary) == VOCABULARY:
            break
        if left + right not in vocabulary:
            vocabulary[left + right] = len(vocabulary)
            merges.append([left, right])
    assert len(vocabulary) == VOCABULARY
    return json.dumps(file, ensure_ascii=False, separators=(",", ":"))


def save_config(folder: Path) -> None:
    config = Gemma3TextConfig(
        architectures=["Gemma3ForCausalLM"],
        dtype="bfloat16",
        vocab_size=VOCABULARY,
        hidden_size=SHAPE.hidden,
        intermediate_size=SHAPE.inner,
        num_hidden_layers=len(SHAPE.layer_types),
        num_attention_heads=SHAPE.heads,
        num_key_value_heads=SHAPE.key_value_heads,
        head_dim=SHAPE.head_size,
        max_position_embeddings=SHAPE.positions,
        query_pre_attn_scalar=SHAPE.query_scalar,
        sliding_window=SHAPE.window,
        layer_types=SHAPE.layer_types,
        rope_parameters={
            FULL: {"rope_type": "default", "rope_theta": SHAPE.theta[0]},
            SLIDING: {"rope_type": "default", "rope_theta": SHAPE.theta[1]},
        },
    )
    config.save_pretrained(folder)
    respell(SHAPE, folder / "config.json")


def random_tensors():
    h, inner, size = SHAPE.hidden, SHAPE.inner, SHAPE.head_size
    layer = {
        "input_layernorm": (h,),
        "post_attention_layernorm": (h,),
        "pre_feedforward_layernorm": (h,),
        "post_feedforward_layernorm": (h,),
        "self_attn.q_norm": (size,),
        "self_attn.k_norm": (size,),
        "self_attn.q_proj": (SHAPE.heads * size, h),
        "self_attn.k_proj": (SHAPE.key_value_heads * size, h),
        "self_attn.v_proj": (SHAPE.key_value_heads * size, h),
        "self_attn.o_proj": (h, SHAPE.heads * size),
        "mlp.gate_proj": (inner, h),
        "mlp.up_proj": (inner, h),
        "mlp.down_proj": (h, inner),
    }
    shapes = {"model.embed_tokens.weight": (VOCABULARY, h), "model.norm.weight": (h,)}
    for number in range(len(SHAPE.layer_types)):
        shapes |= {f"model.layers.{number}.{name}.weight": shape for name, shape in layer.items()}
    for name, shape in shapes.items():
        yield name, random_weights(name, torch.Size(shape)).to(torch.bfloat16)


def make_golden(folder: Path, tokenizer: Tokenizer) -> dict:
    reference = Reference(SHAPE, folder, torch.float32)
    decisions = []
    for each in [*SHORT[:3], long_decisions(40)[0]]:
        ids = [tokenizer.encode(joint_text(each["state"], each["question"], candidate)).ids for candidate in each["candidates"]]
        decisions.append(each | {"token_ids": ids, "scores": [reference.score([row])[0] for row in ids]})
    return {"about": "float32 scores of random weights", "decisions": decisions}


def make_export(source: Path, folder: Path) -> None:
    from dataclasses import replace

    make_folder(folder)
    export(source, folder / "model.onnx", keep_weights_apart=True)
    for name in ("config.json", "golden.json", "tokenizer.json"):
        shutil.copy(source / name, folder)
    write_manifest(replace(SHAPE, name="full-size-onnx", is_export=True), folder)
    print(f"{folder}: {sum(file.stat().st_size for file in folder.iterdir())} bytes")


if __name__ == "__main__":
    main()
