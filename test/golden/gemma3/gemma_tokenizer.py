"""Small tokenizers of the kind that Gemma's tokenizer.json describes, trained on the sentences below.

`separate_newlines=True` is Gemma's way: runs of newlines are added tokens, which are cut out of a text before anything else, so
that no other token reaches across them. With False newlines are characters like any other, and tokens such as ".\\n\\n" reach
across the borders between a state, a question and a candidate.
"""

import json

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

SPACE = "\u2581"  # what the normalizer makes of a space

SENTENCES = """
I was charged twice for one order and want my money back today.
My parcel has not arrived, although the shop says that it was sent last week.
Please cancel my subscription at the end of this month, I do not need it any more.
The printer reports a paper jam, but there is no paper in tray two.
Open tray 2 and pull the sheet out, then close the door and print again.
Buy new ink when the red light is on; one bottle lasts for some 4,000 pages.
Which team should answer? Billing, delivery, returns, account, or somebody else?
What does the customer want? The customer wants money back for a charge.
How urgent is this? It can wait, it should be done this week, it must be done today.
The answer names its source and says what it does not know.
No. This is false: the customer is angry. Yes. This is true: the customer is polite.
The site is down! Nobody can sign in since 10:42, and the phones ring all the time.
title: Invoice 2024-117
amount: 129.90
currency: EUR
paid: true
items:
  - name: a lamp for the desk
    count: 2
  - name: a cable
    count: 1
    note: sent apart
The water was cold and clear, and the stones on its ground were round and white.
She read the letter once, put it back into its envelope, and said nothing for a while.
He had walked for three hours when the rain began; there was no house to be seen.
Rank the replies by how much they help. A reply helps when it says what to do next.
Does the text mention a person by name? Does it hold a date, a number or an address?
The machine stopped at night. In the morning the log had one line: out of memory.
Wir haben die Bestellung erhalten und senden sie am Montag. Vielen Dank!
La commande est arriv\u00e9e, mais la bo\u00eete \u00e9tait ouverte.
def total(prices):
    return sum(price * count for price, count in prices.items())
<table><tr><td>one</td><td>two</td></tr></table>
Candidate action:
Send the customer a new lamp.
Candidate action:
Ask for a photo of the damage.
Candidate action:
Give the money back.
""".strip()

SPECIAL = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "[multimodal]"]
UNUSED = [f"<unused{i}>" for i in range(4)]
TURNS = ["<start_of_turn>", "<end_of_turn>"]
TAGS = [f"<{slash}{tag}>" for tag in ["table", "tr", "td", "h1", "p", "code"] for slash in ["", "/"]]
LONGEST_RUN = 16  # Gemma has 31: these files are to be small
NEWLINES = ["\n" * n for n in range(1, LONGEST_RUN + 1)]
SPACES = [SPACE * n for n in range(2, LONGEST_RUN + 1)]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def make_tokenizer(vocabulary: int, separate_newlines: bool) -> str:
    """The text of a tokenizer.json with at most `vocabulary` tokens."""
    added = SPECIAL + UNUSED + TURNS + (NEWLINES if separate_newlines else []) + SPACES + TAGS
    fixed = list(dict.fromkeys(added + SPACES + BYTES))
    merges = learn_merges(vocabulary - len(fixed) - 100, separate_newlines)
    spaces = [(SPACE * (n - m), SPACE * m) for n in range(2, LONGEST_RUN + 1) for m in range(1, n // 2 + 1)]
    # as in every large vocabulary, "go" is one token wherever it stands, and so is a letter alone
    letters = [(SPACE, letter) for letter in "abcdefghijklmnopqrstuvwxyz"]
    merges = list(dict.fromkeys([("g", "o"), (SPACE, "go")] + merges + spaces + letters))
    alphabet = sorted(set(SENTENCES.replace(" ", SPACE)) | {chr(code) for code in range(0x21, 0x7F)})
    if separate_newlines:
        alphabet = [c for c in alphabet if c != "\n"]
    tokens = dict.fromkeys(fixed + alphabet + [a + b for a, b in merges])
    if len(tokens) > vocabulary:
        raise ValueError(f"{len(tokens)} tokens, more than {vocabulary}")
    ids = {token: i for i, token in enumerate(tokens)}
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [
                {
                    "id": ids[token],
                    "content": token,
                    "single_word": False,
                    "lstrip": False,
                    "rstrip": False,
                    "normalized": False,
                    "special": token in SPECIAL + TURNS,
                }
                for token in added
            ],
            "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": SPACE},
            "pre_tokenizer": {
                "type": "Split",
                "pattern": {"String": " "},
                "behavior": "MergedWithPrevious",
                "invert": False,
            },
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [
                    {"SpecialToken": {"id": "<bos>", "type_id": 0}},
                    {"Sequence": {"id": "A", "type_id": 0}},
                ],
                "pair": [
                    {"SpecialToken": {"id": "<bos>", "type_id": 0}},
                    {"Sequence": {"id": "A", "type_id": 0}},
                    {"SpecialToken": {"id": "<bos>", "type_id": 1}},
                    {"Sequence": {"id": "B", "type_id": 1}},
                ],
                "special_tokens": {"<bos>": {"id": "<bos>", "ids": [ids["<bos>"]], "tokens": ["<bos>"]}},
            },
            "decoder": {
                "type": "Sequence",
                "decoders": [
                    {"type": "Replace", "pattern": {"String": SPACE}, "content": " "},
                    {"type": "ByteFallback"},
                    {"type": "Fuse"},
                ],
            },
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": "<unk>",
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": True,
                "byte_fallback": True,
                "ignore_merges": False,
                "vocab": ids,
                "merges": [list(merge) for merge in merges],
            },
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def learn_merges(count: int, separate_newlines: bool) -> list[tuple[str, str]]:
    """Merges within words with the space before them; across newlines, too, unless these are separate."""
    tokenizer = Tokenizer(models.BPE())
    header = "\n\nCandidate action:\n"
    lines = SENTENCES.split("\n")
    texts = lines if separate_newlines else ["\n\n".join(lines), header.join(lines), "\n".join(lines)]
    tokenizer.pre_tokenizer = pre_tokenizers.Split(SPACE, "merged_with_next")
    trainer = trainers.BpeTrainer(vocab_size=count, min_frequency=2, show_progress=False)
    tokenizer.train_from_iterator([text.replace(" ", SPACE) for text in texts], trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(merge) if isinstance(merge, list) else tuple(merge.split(" ")) for merge in merges]


if __name__ == "__main__":
    for separate in (True, False):
        made = Tokenizer.from_str(make_tokenizer(800, separate))
        print(made.get_vocab_size())
        for sample in ["I was charged.\n\nWhat now?\n\nCandidate action:\nRefund", "a    b \U0001f600 <bos>x\n\n\ny"]:
            print(made.encode(sample).tokens)
