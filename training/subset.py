"""Random parts of large sets. Usage: subset.py OUT_FOLDER MOST_OF_EACH [--without SET,SET...] FOLDER ...

Copies each FOLDER/*.jsonl to OUT_FOLDER. Of a file with more than MOST_OF_EACH decisions, it copies about that many: it chooses states
at random with a fixed seed and takes all decisions about each of them. The order stays.
"""
import json
import pathlib
import random
import sys


def part(lines, most, seed):
    """Lines about randomly chosen states: `most` or a few more, as the last state is taken whole. -> [line]"""
    if len(lines) <= most:
        return lines
    of_state = {}
    for i, line in enumerate(lines):
        of_state.setdefault(json.dumps(json.loads(line)["state"]), []).append(i)
    states = sorted(of_state)
    random.Random(seed).shuffle(states)
    chosen = []
    for state in states:
        if len(chosen) >= most:
            break
        chosen += of_state[state]
    return [lines[i] for i in sorted(chosen)]


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
        (pathlib.Path(out) / path.name).write_text("".join(part(lines, int(most), path.stem)), encoding="utf-8")


if __name__ == "__main__":
    main()
