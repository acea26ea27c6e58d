"""Weights in parts of limited size, for a machine that takes and returns only small files.

    parts.py split MODEL.safetensors FOLDER       as int8 rows (snap.py), in files of at most 15 MiB
    parts.py join FOLDER MODEL.safetensors
"""
import pathlib
import sys

import weights
from snap import pack

MOST = 15 * 2**20


def split(path, folder):
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder / "whole"
    weights.save(pack(weights.load(path)), whole)
    content = whole.read_bytes()
    for k, at in enumerate(range(0, len(content), MOST)):
        (folder / f"{k:02}.part").write_bytes(content[at:at + MOST])
    whole.unlink()


def join(folder, path):
    path.write_bytes(b"".join(part.read_bytes() for part in sorted(folder.glob("*.part"))))


if __name__ == "__main__":
    what, *paths = sys.argv[1:]
    {"split": split, "join": join}[what](*map(pathlib.Path, paths))
