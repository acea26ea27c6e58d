"""Splits decks into decisions for training and for development, by state.

    split_decks.py OUT_FOLDER SET FILE.deck ...

Cards whose states share many words (a rule, a list of tools, minimal pairs) stay on one side: similar neighbours form a
group, and one group in ten goes to development. Writes train/SET.jsonl (one set) and dev.jsonl (one set per deck).
"""
import hashlib
import json
import pathlib
import re
import sys

import read_deck

ALIKE = 0.25  # minimum overlap of two cards in a group, as a share of the smaller state's words
NEAR = 8  # number of preceding cards to compare with
COMMON = set("a an the of to in on at for and or is are was were be been i you he she it we they my your his her our their this that with from not no have has had will would can".split())


def words(state):
    text = state if isinstance(state, str) else json.dumps(state)
    return {w for w in re.findall(r"\w+", text.lower()) if w not in COMMON}


def groups(decisions):
    """Decisions of one deck in order. -> [[decision, ...] of one group, ...]"""
    cards = []
    for d in decisions:
        if not cards or cards[-1][0]["state"] != d["state"]:
            cards.append([])
        cards[-1].append(d)
    said, group_of = [words(card[0]["state"]) for card in cards], []
    for i, mine in enumerate(said):
        like = [j for j in range(max(0, i - NEAR), i) if len(mine & said[j]) >= ALIKE * max(1, min(len(mine), len(said[j])))]
        group_of.append(group_of[like[0]] if like else i)
    return [[d for k, card in enumerate(cards) if group_of[k] == g for d in card] for g in sorted(set(group_of))]


def is_development(group):
    digest = hashlib.sha256(json.dumps(group[0]["state"], ensure_ascii=False).encode()).digest()
    return digest[0] < 26  # one in ten


def main():
    out, name, *files = sys.argv[1:]
    out = pathlib.Path(out)
    (out / "train").mkdir(parents=True, exist_ok=True)
    counts = [0, 0]
    with (out / "train" / f"{name}.jsonl").open("w", encoding="utf-8") as train, (out / "dev.jsonl").open("w", encoding="utf-8") as dev:
        for file in sorted(files, key=lambda f: pathlib.Path(f).name):
            for group in groups(list(read_deck.read(file))):
                held = is_development(group)
                for d in group:
                    d = {**d, "set": pathlib.Path(file).stem} if held else {**d, "set": name}
                    (dev if held else train).write(json.dumps(d, ensure_ascii=False) + "\n")
                    counts[held] += 1
    print(f"{counts[0]} decisions for training, {counts[1]} for development")


if __name__ == "__main__":
    main()
