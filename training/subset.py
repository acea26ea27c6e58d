"""Random parts of large sets. Usage: subset.py OUT_FOLDER MOST_OF_EACH [--without SET,SET...] FOLDER ...

Writes at most MOST_OF_EACH decisions of each FOLDER/*.jsonl, chosen with a fixed seed, in their order.
"""
import pathlib
import random
import sys


def main():
    out, most, *rest = sys.argv[1:]
    without = set(rest[1].split(",")) if rest and rest[0] == "--without" else set()
    folders = rest[2:] if without else rest
    pathlib.Path(out).mkdir(parents=True, exist_ok=True)
    for path in sorted(p for folder in folders for p in pathlib.Path(folder).glob("*.jsonl")):
        if path.stem in without:
            continue
        with path.open(encoding="utf-8", newline="\n") as file:
            lines = file.readlines()
        chosen = sorted(random.Random(path.stem).sample(range(len(lines)), min(len(lines), int(most))))
        (pathlib.Path(out) / path.name).write_text("".join(lines[i] for i in chosen), encoding="utf-8")


if __name__ == "__main__":
    main()
