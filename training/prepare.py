"""JSONL decisions -> compressed shards of token ids (see store.py).

    prepare.py --tokenizer TOKENIZER.json --out DIR [--shards N] [--limit N] NAME=FILE.jsonl ... | FOLDER

A FOLDER means its *.jsonl files, each a set named after its file. A record's own `set` takes precedence. Every N-th
decision of a set goes to the same shard, so that each shard has all sets.
"""
import argparse
import json
import pathlib
import re

import numpy as np
from tokenizers import Tokenizer

import store
from texts import state_text, to_text
from wordings import WORDINGS

YES = {"yes", "true", "entailed", "1", "correct"}
TRIVIAL = re.compile(r"(?:option|answer|choice|candidate|class|statement|level)?[ _.-]*(?:[a-z]|\d+|i{1,3}|iv|v)\)?", re.IGNORECASE)
REST = re.compile(r"(?:none|nothing|no other|any ?thing else|something else|neither|other|no match|out of (?:scope|domain)|oos|misc|unknown)\b.{0,40}", re.IGNORECASE)


def plain(label):
    """A label without case, white space and punctuation; unchanged if nothing would be left."""
    return re.sub(r"[\W_]+", "", label).lower() or label


class Texts:
    """Numbers distinct texts in order of appearance; number 0 is the empty text."""

    def __init__(self):
        self.numbers, self.list = {"": 0}, [""]

    def number(self, text):
        n = self.numbers.setdefault(text, len(self.list))
        if n == len(self.list):
            self.list.append(text)
        return n


class Shard:
    """Collects decisions, in the arrays of store.py."""

    def __init__(self):
        self.texts = Texts()
        self.rows = {name: [] for name in (*store.PER_DECISION, *store.PER_CANDIDATE)}

    def add(self, decision, set_number):
        """Adds a decision. -> whether it was valid"""
        candidates, answer = decision["candidates"], decision["answer"]
        if not 0 <= answer < len(candidates) or len(candidates) < 2:
            return False
        kind = store.KINDS.index(decision["type"])
        pairs = [(str(c["label"]), to_text(c["text"]).strip()) for c in candidates]
        if len({text or label for label, text in pairs}) < len(pairs):
            return False
        if decision["type"] == "noul":
            yes = next((i for i, (label, _) in enumerate(pairs) if label.lower() in YES), 1)
            pairs, answer = [], int(answer == yes)
        number = self.texts.number
        row = {"sets": set_number, "kinds": kind, "answers": answer, "count": len(pairs),
               "state": number(state_text(decision["state"])), "question": number(to_text(decision["instructions"]).strip())}
        for name, value in row.items():
            self.rows[name].append(value)
        for label, text in pairs:
            self.rows["label"].append(number(label))
            self.rows["text"].append(number("" if text == label else text))
        return True

    def arrays(self, tokenizer):
        texts = self.texts.list
        encoded = [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)]
        small = ("sets", "kinds", "answers", "count")
        labels, first = set(self.rows["label"]), {}
        same = [first.setdefault(plain(text), i) if i in labels else i for i, text in enumerate(texts)]
        return {"tokens": np.fromiter((t for ids in encoded for t in ids), np.uint16),
                "lengths": np.array([len(ids) for ids in encoded], np.uint32),
                "trivial": np.array([bool(TRIVIAL.fullmatch(text)) for text in texts]),
                "rest": np.array([bool(REST.fullmatch(text.replace("_", " "))) for text in texts]),
                "same": np.array(same, np.uint32),
                **{name: np.array(values, np.uint8 if name in small else np.uint32) for name, values in self.rows.items()}}


def wordings(tokenizer):
    """-> {name: [[ids before the gap, ids after it], ...]}"""
    ids = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    cut = lambda text: [ids(part) for part in re.split(r"\{\}|\|", text)]
    return {name: [cut(text) for text in texts] for name, texts in WORDINGS.items()}


def sources(arguments):
    """-> [(set name, path), ...]"""
    found = []
    for argument in arguments:
        if pathlib.Path(argument).is_dir():
            found += [(path.stem, path) for path in sorted(pathlib.Path(argument).glob("*.jsonl"))]
        else:
            name, _, path = argument.rpartition("=")
            found.append((name or pathlib.Path(path).stem, pathlib.Path(path)))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--limit", type=int, default=10**9, help="use only the first decisions of each file")
    parser.add_argument("sources", nargs="+")
    options = parser.parse_args()
    tokenizer = Tokenizer.from_file(options.tokenizer)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    shards, names, seen = [Shard() for _ in range(options.shards)], [], {}
    for name, path in sources(options.sources):
        taken = refused = 0
        for line in path.open(encoding="utf-8"):
            if taken == options.limit:
                break
            decision = json.loads(line)
            own = decision.get("set", name)
            if own not in seen:
                seen[own] = 0
                names.append(own)
            if shards[seen[own] % len(shards)].add(decision, names.index(own)):
                seen[own] += 1
                taken += 1
            else:
                refused += 1
        print(f"{name}: {taken} decisions, {refused} refused", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    about = {"names": names, "wordings": wordings(tokenizer)}
    for i, shard in enumerate(shards):
        path = options.out / f"{i}.shard"
        arrays = shard.arrays(tokenizer)
        size = store.write(path, arrays, about)
        print(f"{path}: {len(arrays['sets'])} decisions, {len(arrays['tokens'])} tokens of texts, {size / 2**20:.1f} MiB", flush=True)


if __name__ == "__main__":
    main()
