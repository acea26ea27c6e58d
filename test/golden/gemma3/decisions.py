"""Decisions whose texts try what a joint text can do. Candidates are as the model reads them: labels are hidden."""

from gemma_tokenizer import SENTENCES

HEADER = "\n\nCandidate action:\n"
LINES = [line for line in SENTENCES.split("\n") if len(line) > 40]


def joint_text(state: str, question: str, candidate: str) -> str:
    """A blank state or question is left out together with its blank line."""
    return "\n\n".join(text for text in (state, question) if text) + HEADER + candidate


def running_text(lines: int, start: int = 0) -> str:
    return " ".join(LINES[(start + 7 * i) % len(LINES)] for i in range(lines))


def decision(kind: str, state: str, question: str, candidates: list[str], sent: dict | None = None) -> dict:
    """`sent` is what a question and its state hold in a request where that is not the texts themselves."""
    return {"type": kind, "state": state, "question": question, "candidates": candidates} | (
        {"sent": sent} if sent else {}
    )


ORDER = {
    "title": "Order 2024-117",
    "items": [{"name": "a lamp for the desk", "count": 2}, "wrapping paper", None, True],
    "paid": {"amount": 129.9, "currency": "EUR"},
}
ORDER_TEXT = """title: Order 2024-117

items:
  -
    name: a lamp for the desk
    count: 2
  - wrapping paper
  - 
  - true

paid:
  amount: 129.9
  currency: EUR"""
WISH = {"Decide": "what to do", "when": ["the order is paid", "the lamp is there"]}
WISH_TEXT = """Decide: what to do

when:
  - the order is paid
  - the lamp is there"""

SHORT = [
    decision(
        "choice",
        "I was charged twice for one order. Give me my money back today or I will go to my bank!",
        "What does the customer want?",
        ["Wants money back for a charge", "Wants to end a subscription", "Reports a technical fault"],
    ),
    decision(
        "noul",
        "My parcel has not arrived.",
        "The customer asks for money back.",
        [
            "false: No. This is false: The customer asks for money back.",
            "true: Yes. This is true: The customer asks for money back.",
        ],
    ),
    decision(
        "score", "The site is down! Nobody can sign in.", "How urgent is this?", ["can wait", "this week", "today"]
    ),
    decision(
        "choice",
        ORDER_TEXT,
        WISH_TEXT,
        ["Send the customer a new lamp.", "carrier: DHL\n\nexpress: true", "1", "1.5"],
        {
            "state": ORDER,
            "instructions": WISH,
            "criteria": {
                "lamp": "Send the customer a new lamp.",
                "send": {"carrier": "DHL", "express": True},
                "one": 1,
                "float": 1.5,
            },
        },
    ),
    decision("rank", "", "Which reply helps most?", ["Open tray 2 and pull the sheet out.", "Buy new ink."]),
    # labels that stand for their descriptions are not trimmed
    decision(
        "choice",
        "The printer reports a paper jam.",
        "",
        ["Open tray 2.", "\n\nOpen tray 3. ", " \n Ink?\n"],
        {
            "state": "The printer reports a paper jam.",
            "instructions": None,
            "criteria": {"Open tray 2.": None, "\n\nOpen tray 3. ": "", " \n Ink?\n": " "},
        },
    ),
    decision(
        "rank",
        "\u4f60\u597d\uff0c\u6211\u7684\u5305\u88f9\u5728\u54ea\u91cc\uff1f \U0001f4e6\U0001f468\u200d\U0001f469\u200d\U0001f467 "
        "\u0639\u0631\u0628\u064a e\u0301\u0327 \ud55c\uad6d\uc5b4 \u00df \u0130 na\u00efve",
        "Quelle \u00e9quipe\u202f? \u2581 \u2581\u2581",
        ["\u914d\u9001", "R\u00fcckgabe \U0001f642", "\u043f\u0440\u043e\u0447\u0435\u0435"],
    ),
    # borders: newlines and spaces at the ends of lines, full stops before a blank line, added tokens in the texts
    decision(
        "rank",
        "Give the money back.\n\n\nCandidate action:\nGive the money back.",
        "Which one?   \n \n\t<td>  x</td>",
        ["Give the money back.", "<eos>", "<bos>Candidate action:\n\nGive", "\u2581\u2581 \u2581<unused1>\n\n\n\nend"],
    ),
    decision(
        "rank",
        "    <start_of_turn>user\n".strip() + " " * 20 + "x" + "\n" * 20 + "y<0x41>",
        ".",
        [".", "..", "a" * 70, "Candidate action:"],
    ),
]


def long_decisions(lines: int) -> list[dict]:
    """About 15 tokens a line."""
    state = running_text(lines)
    question = running_text(max(1, lines // 6), 3)
    return [
        decision("rank", state, "Does the text mention a person by name?", ["It does.", "It does not.", "Nobody can say."]),
        decision("rank", running_text(lines // 2, 5), question, ["Yes.", running_text(2, 11)]),
        decision("rank", "", running_text(lines, 2), ["One.", "Two or more."]),
    ]
