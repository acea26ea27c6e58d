"""What the programs for rerank clients in Python share."""

from ready import check, plain

QUERY = "What is the capital of the United States?"
DOCUMENTS = [
    "Carson City is the capital city of the American state of Nevada.",
    "Washington, D.C. is the capital of the United States. It is a federal district.",
    "Bread is made of flour, water, salt and yeast.",
    "Washington, D.C. is the capital of the United States. It is a federal district.",
]


def relevance(document, query=QUERY):
    """The relevance of a document as the plain contract gives it."""
    body = {
        "state": f"Passage: {document}",
        "question": "Which question does the passage answer?",
        "candidates": [query, "None of these questions."],
    }
    rows = plain("/v1/rank", body)["ranked"]
    return next(row["probability"] for row in rows if row["candidate"] == "0")


def check_rows(what, rows, documents=DOCUMENTS):
    """Checks (index, relevance) pairs: best first, each the plain contract's number."""
    scores = [score for _, score in rows]
    check(f"{what}: best first", scores == sorted(scores, reverse=True))
    for index, score in rows:
        check(f"{what}: relevance of {index}", abs(score - relevance(documents[index])) < 1e-12)
