"""How texts become words: the normalizer and the pre-tokenizer of tokenizer.json. docs/models.md lists the rules.

Patterns are alternatives of classes, which `src/inference/tokens/class-patterns.ts` checks. Patterns that match nothing at the very
beginning of a text crash tokenizers.
"""
import unicodedata

LONGEST = 100  # characters of a word that are read together

# What separates words: white space, control characters, and characters that are blank or have no width.
BLANK = "\\s\\p{Z}\\p{Cc}\\u115F\\u1160\\u180E\\u200B\\u2800\\u3164\\uFEFF\\uFFA0"
# Compatibility decomposition would join these to what stands before: `10²` would read as 102.
RAISED = "²³¹⁰ⁱ⁴-⁹⁺-ⁿ"
APART = "ªº¼-¾ℂ™℠№ℹ⅐-\u218b①-⓿㈀-㋿\U0001f100-\U0001f12f"
# Format characters and variants of the same character.
IGNORED = "\\u00AD\\u034F\\u061C\\u17B4\\u17B5\\u180B-\\u180D\\u180F\\u200C-\\u200F\\u202A-\\u202E\\u2060-\\u206F\\uFE00-\\uFE0F\\uFFF9-\\uFFFB\U000e0100-\U000e01ef"
# Marks that are spelling: accents of Latin, Greek and Cyrillic letters, vowels and Hamza of Hebrew and Arabic, and keycaps.
ACCENTS = "\\u0300-\\u0305\\u0307\\u0309-\\u0337\\u0339-\\u036F\\u0483-\\u0489\\u1AB0-\\u1AFF\\u1DC0-\\u1DFF\\u20D0\\u20D1\\u20D4-\\u20DC\\u20E1\\u20E3\\uFE20-\\uFE2F"
VOWELS = "\\u0591-\\u05BD\\u05BF\\u05C1\\u05C2\\u05C4\\u05C5\\u05C7\\u0610-\\u061A\\u064B-\\u065F\\u0670\\u06D6-\\u06DC\\u06DF-\\u06E4\\u06E7\\u06E8\\u06EA-\\u06ED"
# Each is a word: punctuation, symbols, emoji, private use, Chinese characters, and the strokes that negate an operator.
HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
STROKES = "\u0338\u20d2\u20dd\u20de\u20df\u20e0\u20e4"
ALONE = "\\p{P}\\p{S}\\p{Co}" + HAN + "\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\\u0338\\u20D2\\u20DD-\\u20E0\\u20E4"
FLAGS = "[\U0001f1e6-\U0001f1ff]{2}|\U0001f3f4[\U000e0061-\U000e007a]{1,6}\U000e007f"


def replace(pattern, content):
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def normalizer(keeps_marks=True):
    """keeps_marks: whether marks of scripts stay where they make another letter. Otherwise all are stripped, but the strokes."""
    marks = f"[{IGNORED}{ACCENTS}{VOWELS}]|(?<![иу])\\u0306|(?<!і)\\u0308"  # й, ў and ї are letters of their own
    if not keeps_marks:
        marks = f"(?![\\u0338\\u20D2])[\\p{{Mn}}\\u20E3{IGNORED}]"
    sara_am = [] if keeps_marks else [replace("\u0e4d\u0e32", "\u0e33")]
    return {"type": "Sequence", "normalizers": [
        replace(f"(?<=[^{RAISED}])(?=[{RAISED}])|(?<=[\\s\\S])(?=[{APART}])|(?<=[{APART}])(?=[\\s\\S])", " "),
        {"type": "NFKD"}, {"type": "Lowercase"}, *sara_am, replace(marks, "")]}


def ranges(characters):
    """Characters -> the inside of a class"""
    code = lambda c: f"\\u{ord(c):04X}" if ord(c) < 0x10000 else c
    parts, run = [], []
    for c in [*sorted(characters), None]:
        if run and (c is None or ord(c) != ord(run[-1]) + 1):
            parts.append(code(run[0]) + ("-" + code(run[-1]) if len(run) > 1 else ""))
            run = []
        run.append(c)
    return "".join(parts)


def is_alone(c):
    point = ord(c)
    return (unicodedata.category(c)[0] in "PSZC" or c in STROKES or 0x3400 <= point <= 0x4DBF or 0x4E00 <= point <= 0x9FFF
            or 0xF900 <= point <= 0xFAFF or point >= 0x1F000)


def readable(vocabulary):
    """Characters that may stand anywhere in a word, so that no word of them is unknown."""
    return {c for c in vocabulary if len(c) == 1 and "##" + c in vocabulary and not is_alone(c)}


def pre_tokenizer(vocabulary):
    known = ranges(readable(vocabulary))
    words = f"[{known}]{{1,{LONGEST}}}|{FLAGS}|[^{known}{ALONE}]{{1,{LONGEST}}}|[\\s\\S]"
    split = lambda pattern, behavior: {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": False}
    return {"type": "Sequence", "pretokenizers": [split(f"[{BLANK}]+", "Removed"), split(words, "Isolated")]}


def apply(spec, keeps_marks=True):
    """Gives a tokenizer.json these rules. Without added tokens, what looks like one in a text is text."""
    spec["added_tokens"] = []
    spec["normalizer"] = normalizer(keeps_marks)
    spec["pre_tokenizer"] = pre_tokenizer(spec["model"]["vocab"])
    spec["model"]["max_input_chars_per_word"] = LONGEST
    return spec
