"""A large file in parts of limited size, for a machine that takes and returns only small files.

    parts.py split MODEL.safetensors FOLDER       8 bits a weight, in files of at most 15 MiB
    parts.py join FOLDER MODEL.safetensors

Word embeddings and the layers' matrices are rotated and rounded to 255 levels a row, as in snap.py; the rest keeps 32 bits.
"""
import io
import pathlib
import sys

import numpy as np
import torch

import weights
from snap import LEVELS, rotated_inputs

MOST = 15 * 2**20


def split(path, folder):
    buffer, arrays = io.BytesIO(), {}
    for name, tensor in weights.load(path).items():
        if tensor.ndim == 2 and name.startswith(("word.", "layers.")):
            tensor = rotated_inputs(tensor.double()).float()
            step = tensor.abs().amax(1, keepdim=True).clamp_min(1e-30) / LEVELS
            arrays[name], arrays["step:" + name] = (tensor / step).round().to(torch.int8).numpy(), step.numpy()
        else:
            arrays[name] = tensor.numpy()
    np.savez(buffer, **arrays)
    folder.mkdir(parents=True, exist_ok=True)
    for k, at in enumerate(range(0, buffer.tell(), MOST)):
        (folder / f"{k:02}.part").write_bytes(buffer.getbuffer()[at:at + MOST])


def join(folder, path):
    arrays = np.load(io.BytesIO(b"".join(part.read_bytes() for part in sorted(folder.glob("*.part")))))
    made = {name: torch.from_numpy(arrays[name]) for name in arrays.files}
    whole = lambda name, step: made[name] if step is None else rotated_inputs((made[name] * step).double()).float()
    weights.save({name: whole(name, made.get("step:" + name)) for name in made if not name.startswith("step:")}, path)


if __name__ == "__main__":
    what, *paths = sys.argv[1:]
    {"split": split, "join": join}[what](*map(pathlib.Path, paths))
