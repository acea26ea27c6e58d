"""Adds word pieces to a model: words of other languages, with embeddings initialized from their English glosses.

    vocabulary.py --tokenizer TOKENIZER.json --weights MODEL.safetensors --glossary FILE.tsv ... --out DIR

Each line of a glossary is `word<TAB>gloss, gloss`: the word as written, with `##` in front if it only continues a word.
In scripts without spaces, and for emoji (`WITHOUT_BLANKS`), every word gets both forms. Words that are already one
piece are left out. An embedding starts as the mean of its glosses' embeddings, with a norm between theirs and that of
whole words. Missing letters of LETTERS also get both forms, so that a word with one of them is split into pieces
instead of becoming `[UNK]`.

Words of more than 100 characters are then read in runs of 100 (proof in `src/inference/tokens/word-pieces.ts`).
"""
import argparse
import json
import pathlib
import re

import torch
from tokenizers import Tokenizer

import weights

LONGEST = 100
RUNS = {"type": "Split", "pattern": {"Regex": f"[\\s\\S]{{{LONGEST}}}"}, "behavior": "Isolated", "invert": False}
WITHOUT_BLANKS = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u2600-\u27bf\U0001f300-\U0001faff]")
LETTERS = ((0x0E01, 0x0E5B), (0x1100, 0x1112), (0x1161, 0x1175), (0x11A8, 0x11C2), (0x3041, 0x3096), (0x30A1, 0x30FC), (0x0905, 0x0963), (0x0621, 0x06D3), (0x0430, 0x045F))


def entries(paths):
    """-> {word: [[gloss, ...] of each line]}"""
    found = {}
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if not line.strip() or line.startswith("# "):
                continue
            word, tab, glosses = line.partition("\t")
            if not tab or not glosses.strip():
                raise SystemExit(f"{path}:{number}: expected a word, a tab and its English glosses")
            found.setdefault(word.strip(), []).append([g.strip() for g in glosses.split(",") if g.strip()])
    return found


class Extension:
    def __init__(self, tokenizer, spec, rows):
        self.tokenizer, self.vocab, self.rows, self.added = tokenizer, spec["model"]["vocab"], rows, []
        self.usual = rows[2000:20000].norm(dim=1).mean()
        self.middle = rows[2000:20000].mean(0)

    def row(self, lines):
        of = lambda text: self.rows[self.tokenizer.encode(text, add_special_tokens=False).ids].mean(0)
        made = torch.stack([torch.stack([of(g) for g in glosses[:3]]).mean(0) for glosses in lines]).mean(0)
        return made * (0.5 + 0.5 * self.usual / made.norm())

    def add(self, piece, row):
        if piece not in self.vocab:
            self.vocab[piece] = len(self.vocab)
            self.added.append(row)

    def words(self, found):
        for word, lines in found.items():
            goes_on = word.startswith("##")
            plain = self.tokenizer.normalizer.normalize_str(word.removeprefix("##")).strip()
            if not plain or len(self.tokenizer.pre_tokenizer.pre_tokenize_str(plain)) != 1:
                continue
            row = self.row(lines)
            if not goes_on:
                self.add(plain, row)
            if goes_on or WITHOUT_BLANKS.search(plain):
                self.add("##" + plain, row)

    def letters(self):
        for start, end in LETTERS:
            for letter in map(chr, range(start, end + 1)):
                if self.tokenizer.normalizer.normalize_str(letter) == letter:
                    self.add(letter, self.middle)
                    self.add("##" + letter, self.middle)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", type=pathlib.Path, required=True)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--glossary", type=pathlib.Path, nargs="+", default=[])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    spec, tensors = json.loads(options.tokenizer.read_text(encoding="utf-8")), weights.load(options.weights)
    extension = Extension(Tokenizer.from_file(str(options.tokenizer)), spec, tensors["word.weight"])
    before = len(extension.vocab)
    extension.words(entries(options.glossary))
    extension.letters()
    if len(extension.vocab) > 2**16:
        raise SystemExit("store.py keeps token ids in 16 bits: too many pieces")
    spec["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [{"type": "BertPreTokenizer"}, RUNS]}
    spec["model"]["max_input_chars_per_word"] = LONGEST
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "tokenizer.json").write_text(json.dumps(spec, ensure_ascii=False), encoding="utf-8")
    if extension.added:
        tensors["word.weight"] = torch.cat([tensors["word.weight"], torch.stack(extension.added)])
    weights.save(tensors, options.out / "model.safetensors")
    print(f"{before} pieces became {len(extension.vocab)}")


if __name__ == "__main__":
    main()
