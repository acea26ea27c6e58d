"""Reads and writes safetensors files with NumPy, and creates models from them."""
import json

import numpy as np
import torch

from model import TokenTreeRanker
from snap import SCALE, unpack

DTYPES = {"F16": np.float16, "F32": np.float32, "I8": np.int8}


def load(path):
    """-> {name: float32 tensor}"""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    made = {}
    for name, about in header.items():
        start, end = about["data_offsets"]
        values = np.frombuffer(data[start:end], DTYPES[about["dtype"]])
        values = values if about["dtype"] == "I8" else values.astype(np.float32)
        made[name] = torch.from_numpy(values.reshape(about["shape"]).copy())
    return unpack(made)


def save(tensors, path):
    """Writes {name: tensor}: int8 and its scales as they are, all else as float16."""
    header, parts, at = {}, [], 0
    for name, tensor in sorted(tensors.items()):
        kind = "I8" if tensor.dtype == torch.int8 else "F32" if name.endswith(SCALE) else "F16"
        parts.append(tensor.detach().cpu().contiguous().numpy().astype(DTYPES[kind]).tobytes())
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [at, at + len(parts[-1])]}
        at += len(parts[-1])
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(parts))


COPY = 0.3  # factor of a copied layer's output; measured: the deeper model then starts about as accurate as the shallow one


def deepen(tensors, layers):
    """Weights of a model with up to twice as many layers: the last ones are duplicated, with scaled-down outputs. -> {name: tensor}"""
    have = 1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("layers."))
    twice = layers - have
    if not 0 <= twice <= have:
        raise ValueError(f"{have} layers cannot become {layers}")
    made = {name: tensor for name, tensor in tensors.items() if not name.startswith("layers.")}
    source = [i for i in range(have) for _ in range(1 if i < have - twice else 2)]
    for i, of in enumerate(source):
        copied = i > 0 and source[i - 1] == of
        for name, tensor in tensors.items():
            if name.startswith(f"layers.{of}."):
                small = copied and name.split(".")[2] in ("out", "down")
                made[name.replace(f"layers.{of}.", f"layers.{i}.", 1)] = tensor * COPY if small else tensor.clone()
    return made


def model_of(tensors, heads=12, **options):
    """A model with these weights. A missing head is initialized at random."""
    shape = {"vocab": tensors["word.weight"].shape[0], "hidden": tensors["word.weight"].shape[1], "inner": tensors["layers.0.up.weight"].shape[0],
             "layers": 1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("layers.")), "positions": tensors["pos.weight"].shape[0]}
    model = TokenTreeRanker(**shape, heads=heads, **options)
    missing, unknown = model.load_state_dict(tensors, strict=False)
    if unknown or any(not name.startswith("head.") for name in missing):
        raise ValueError(f"missing {missing}, unknown {unknown}")
    return model
