"""Random parts of large sets. Usage: subset.py OUT_FOLDER MOST_OF_EACH [--without SET,SET...] [--longest N] FOLDER ...

Copies each FOLDER/*.jsonl to OUT_FOLDER, without decisions about states of more than N characters. Of a file with more than
MOST_OF_EACH decisions, it copies about that many: it chooses states at random with a fixed seed and takes all decisions about each
of them. The order stays.
"""
import argparse
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


def length(line):
    state = json.loads(line)["state"]
    return len(state if isinstance(state, str) else json.dumps(state, ensure_ascii=False))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("most", type=int)
    parser.add_argument("--without", default=[], metavar="SET,SET", type=lambda text: text.split(","))
    parser.add_argument("--longest", type=int, metavar="N")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_intermixed_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for path in sorted(p for folder in options.folders for p in folder.glob("*.jsonl")):
        if path.stem in options.without:
            continue
        with path.open(encoding="utf-8", newline="\n") as file:
            lines = [line for line in file if options.longest is None or length(line) <= options.longest]
        (options.out / path.name).write_text("".join(part(lines, options.most, path.stem)), encoding="utf-8")


if __name__ == "__main__":
    main()
