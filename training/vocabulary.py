"""Adds word pieces to a model, and gives its tokenizer the rules of text_rules.py.

    vocabulary.py --tokenizer TOKENIZER.json --weights MODEL.safetensors --glossary FILE.tsv ... --out DIR

Each line of a glossary is `word<TAB>gloss, gloss`: the word as written, with `##` in front if it only continues a word.
In scripts without spaces (`WITHOUT_BLANKS`), every word gets both forms. Words that are already one piece are left out.
Letters of LETTERS get both forms, symbols of SYMBOLS one, so that a word with one of them is split into pieces instead of
becoming `[UNK]`. DIR/pieces.json lists the new pieces with the ids whose rows they begin with.

The first row of a new piece is

- a word that the tokenizer so far reads as another piece, because it strips a mark: the row of that piece. If it reads
  several words as this piece, the mean of this row and the glosses' row.
- another word: the mean of its glosses' embeddings, with a norm between theirs and that of whole words.
- a symbol without a gloss: as if its Unicode name were its gloss.
- a number, or a letter with a mark of its own: the row of the ASCII number or of the plain letter. Other letters: the mean of
  all whole words.
"""
import argparse
import json
import pathlib
import re
import unicodedata

import torch
from tokenizers import Tokenizer

import text_rules
import weights

WITHOUT_BLANKS = re.compile("[\u0e00-\u0e7f\u3040-\u30ff]")
LETTERS = ((0x00DF, 0x017F), (0x0199, 0x0199), (0x01B4, 0x01B6), (0x0253, 0x025B), (0x0268, 0x0268), (0x0275, 0x0275), (0x03B1, 0x03C9), (0x0430, 0x045F),
           (0x0491, 0x04BB), (0x04D9, 0x04D9), (0x04E9, 0x04E9), (0x0561, 0x0587), (0x05D0, 0x05EA), (0x0621, 0x06FF), (0x0901, 0x097F), (0x0980, 0x09FE),
           (0x0A01, 0x0A75), (0x0A81, 0x0AF1), (0x0B01, 0x0B71), (0x0B82, 0x0BEF), (0x0C00, 0x0C6F), (0x0C82, 0x0CEF), (0x0D00, 0x0D7F),
           (0x0D82, 0x0DDF), (0x0E01, 0x0E5B), (0x0E81, 0x0EDF), (0x1000, 0x1049), (0x10D0, 0x10FA), (0x1100, 0x1112), (0x1161, 0x1175),
           (0x11A8, 0x11C2), (0x1200, 0x135A), (0x1780, 0x17E9), (0x3041, 0x309A), (0x30A1, 0x30FC))
NUMBERS = ((0x24EB, 0x24FF), (0x2776, 0x2793))  # in circles, without a decomposition
SYMBOLS = ((0x00A1, 0x00BF), (0x02C2, 0x02DF), (0x055A, 0x055F), (0x0589, 0x058A), (0x05BE, 0x05F4), (0x060B, 0x061F), (0x066A, 0x066D),
           (0x06D4, 0x06D4), (0x0964, 0x0965), (0x0E3F, 0x0E3F), (0x0E4F, 0x0E5B), (0x104A, 0x104F), (0x1360, 0x1368), (0x17D4, 0x17DB),
           (0x2010, 0x2027), (0x2030, 0x205E), (0x20A0, 0x20C0), (0x2116, 0x2127), (0x2190, 0x22FF), (0x2318, 0x2328), (0x23CE, 0x23CF), (0x23E9, 0x23FA),
           (0x2500, 0x2500), (0x2502, 0x2502), (0x2550, 0x2551), (0x2580, 0x2593), (0x25A0, 0x27BF), (0x27F5, 0x27FA), (0x2934, 0x2935),
           (0x2B05, 0x2B07), (0x2B1B, 0x2B1C), (0x2B50, 0x2B55), (0x3001, 0x303D), (0x309B, 0x309C), (0x30FB, 0x30FB), (0x1F004, 0x1F004),
           (0x1F0CF, 0x1F0CF), (0x1F170, 0x1F19A), (0x1F300, 0x1F64F), (0x1F680, 0x1F6FC), (0x1F7E0, 0x1F7EB), (0x1F90C, 0x1F9FF),
           (0x1FA70, 0x1FAFF))
IN_NAMES = {"sign", "symbol", "with", "and", "of", "face", "heavy", "letter"}


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


def tokenizer_of(spec, **changes):
    return Tokenizer.from_str(json.dumps({**spec, **changes}))


def characters(ranges):
    return (chr(point) for start, end in ranges for point in range(start, end + 1) if unicodedata.category(chr(point)) != "Cn")


def named(name):
    """-> the character of a Unicode name, or None"""
    try:
        return unicodedata.lookup(name)
    except KeyError:
        return None


class Extension:
    def __init__(self, spec, rows):
        self.spec, self.vocab, self.rows = spec, spec["model"]["vocab"], rows
        self.before = tokenizer_of(spec)
        self.normalizer = tokenizer_of(spec, added_tokens=[], normalizer=text_rules.normalizer()).normalizer
        self.usual, self.middle = rows[2000:20000].norm(dim=1).mean(), rows[2000:20000].mean(0)
        self.size, self.added, self.made = len(self.vocab), [], []

    def ids(self, text):
        return self.before.encode(text, add_special_tokens=False).ids

    def glossed(self, lines):
        """[[gloss, ...] of each line] -> row"""
        of = lambda text: self.rows[self.ids(text)].mean(0)
        made = torch.stack([torch.stack([of(g) for g in glosses[:3]]).mean(0) for glosses in lines]).mean(0)
        return made * (0.5 + 0.5 * self.usual / made.norm())

    def add(self, piece, row, how):
        if piece not in self.vocab:
            self.vocab[piece] = len(self.vocab)
            self.made.append(row)
            self.added.append({"piece": piece, "id": self.vocab[piece], **how})

    def known(self, piece):
        """The id of a piece that the model had before, or None."""
        found = self.vocab.get(piece)
        return found if found is not None and found < self.size else None

    def words(self, found):
        normal = lambda word: self.normalizer.normalize_str(word).strip()
        read_as = lambda word: self.before.normalizer.normalize_str(word).strip()
        plain = {word: normal(word.removeprefix("##")) for word in found}
        shared = {}
        for word, piece in plain.items():
            shared.setdefault(read_as(word.removeprefix("##")), set()).add(piece)
        for word, lines in found.items():
            piece, old = plain[word], read_as(word.removeprefix("##"))
            if not piece or " " in piece or any(text_rules.is_alone(c) for c in piece):
                if re.fullmatch(text_rules.FLAGS, piece) or len(piece) == 1:
                    self.add("##" * word.startswith("##") + piece, self.glossed(lines), {"glosses": lines})
                continue
            for form in ("##",) if word.startswith("##") else ("", "##") if WITHOUT_BLANKS.search(piece) else ("",):
                copied = self.known(form + old)
                row, how = self.glossed(lines), {"glosses": lines}
                if copied is not None and len(shared[old]) == 1:
                    row, how = self.rows[copied], {"copy": copied}
                elif copied is not None:
                    row, how = (self.rows[copied] + row) / 2, {"copy": copied, **how}
                self.add(form + piece, row, how)

    def letters(self, ranges):
        for letter in characters(ranges):
            piece = self.normalizer.normalize_str(letter)
            base = unicodedata.normalize("NFD", piece[:1])
            if not base or text_rules.is_alone(base) or piece[0] != base or (len(piece) == 1 and piece != letter) or any(unicodedata.category(c)[0] != "M" for c in piece[1:]):
                continue
            number, name = unicodedata.numeric(letter, None), unicodedata.name(letter)
            plain = f"{number:g}" if number is not None else base if len(piece) > 1 else named(name.split(" WITH ")[0]) or named(name.replace("EXTENDED ", ""))
            for form in ("", "##"):
                of = self.known(form + plain) if plain and plain != piece else None
                self.add(form + piece, self.middle if of is None else self.rows[of], {"mean": True} if of is None else {"copy": of})

    def symbols(self, ranges):
        for symbol in characters(ranges):
            if self.normalizer.normalize_str(symbol) != symbol or not text_rules.is_alone(symbol):
                continue
            words = [w for w in unicodedata.name(symbol).lower().replace("-", " ").split() if w not in IN_NAMES]
            if words and symbol not in self.vocab:
                gloss = [[" ".join(words)]]
                self.add(symbol, self.glossed(gloss), {"glosses": gloss})

    def close(self):
        """Adds the missing form of each character of a piece."""
        for c in sorted({c for piece in self.vocab for c in piece.removeprefix("##") if not piece.startswith("[") and not text_rules.is_alone(c)}):
            for form, other in (("", "##"), ("##", "")):
                of = self.known(other + c)
                if self.normalizer.normalize_str(c) == c or c in "\u0306\u0308":  # of й, ў and ї
                    self.add(form + c, self.middle if of is None else self.rows[of], {"mean": True} if of is None else {"copy": of})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", type=pathlib.Path, required=True)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--glossary", type=pathlib.Path, nargs="+", default=[])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    spec, tensors = json.loads(options.tokenizer.read_text(encoding="utf-8")), weights.load(options.weights)
    extension = Extension(spec, tensors["word.weight"])
    extension.words(entries(options.glossary))
    extension.letters(LETTERS)
    extension.symbols(SYMBOLS)
    extension.close()
    extension.letters(NUMBERS)
    if len(extension.vocab) > 2**16:
        raise SystemExit(f"store.py keeps token ids in 16 bits: {len(extension.vocab)} pieces are too many")
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "tokenizer.json").write_text(json.dumps(text_rules.apply(spec), ensure_ascii=False), encoding="utf-8")
    (options.out / "pieces.json").write_text(json.dumps(extension.added, ensure_ascii=False, indent=0), encoding="utf-8")
    if extension.made:
        tensors["word.weight"] = torch.cat([tensors["word.weight"], torch.stack(extension.made)])
    weights.save(tensors, options.out / "model.safetensors")
    print(f"{extension.size} pieces became {len(extension.vocab)}")


if __name__ == "__main__":
    main()
