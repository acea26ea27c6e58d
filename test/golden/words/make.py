"""Makes tokenizer.json and tokens.json in this folder: the rules of training/text_rules.py with a small vocabulary, and the tokens of pairs.json.

    python3 -m venv venv && venv/bin/pip install tokenizers==0.23.3 && venv/bin/python make.py

The vocabulary has the characters of the pairs that differ or are the same, and a few words.
"""
import json
import pathlib
import sys

from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "training"))
import text_rules  # noqa: E402

WORDS = ("product", "refund", "please", "ok", "hello", *("\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in nation) + "\U000e007f" for nation in ("gbeng", "gbsct")))


def vocabulary(pairs):
    base = Tokenizer.from_str(json.dumps({"version": "1.0", "added_tokens": [], "normalizer": text_rules.normalizer(), "model": {
        "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0}}}))
    texts = [text for kind in ("differ", "same") for pair in pairs[kind] for text in pair]
    printable = "".join(map(chr, range(0x21, 0x7F)))
    found = set(base.normalizer.normalize_str("".join(texts) + printable)) | set("\u0306\u0308")
    letters = sorted(c for c in found if c.strip("\x00\x0b\x0c\x1c\x1d\x1e\x1f\x85\u180e\u200b\ufeff\u3164\u1160 ") and not c.isspace())
    pieces = [*("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"), *letters, *("##" + c for c in letters if not text_rules.is_alone(c) or "\U0001f1e6" <= c <= "\U0001f1ff")]
    return {piece: at for at, piece in enumerate([*pieces, *WORDS])}


def main():
    pairs = json.loads((HERE / "pairs.json").read_text(encoding="utf-8"))
    spec = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None,
            "decoder": None, "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                                       "vocab": vocabulary(pairs)}}
    spec = text_rules.apply(spec)
    (HERE / "tokenizer.json").write_text(json.dumps(spec, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    tokenizer = Tokenizer.from_file(str(HERE / "tokenizer.json"))
    tokens = lambda text: tokenizer.encode(text, add_special_tokens=False).tokens
    texts = [text for kind in ("differ", "same") for pair in pairs[kind] for text in pair] + [text for text, _ in pairs["unknown"]]
    rows = [f"{json.dumps(text, ensure_ascii=False)}: {json.dumps(tokens(text), ensure_ascii=False)}" for text in dict.fromkeys(texts)]
    (HERE / "tokens.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
