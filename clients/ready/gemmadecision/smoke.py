"""The clients of gemmadecision, on the plain contract. Its model runtime is not installed: the service has its own."""

import asyncio
from typing import Literal

import httpx
from gemmadecision import GemmaDecisionModel
from gemmadecision.client import AsyncDecisionClient, DecisionClient
from gemmadecision.types import Choice, Noul, Score
from pydantic import BaseModel, Field
from pydantic_ai import Agent, ModelHTTPError
from ready import FULL_URL, KEY, SLOW_URL, URL, check, close, plain, raised, report

STATE = "I was charged twice for one order. Give me my money back today!"
CRITERIA = {"refund": "Wants money back", "cancel": "Wants to end a subscription"}
QUESTIONS = {
    "intent": Choice(instructions="What does the customer want?", criteria=CRITERIA),
    "angry": Noul(instructions="The customer is angry."),
    "urgency": Score(instructions="How urgent is this?", criteria=["can wait", "today"]),
}
EXACT = 1e-9

client = DecisionClient(URL, api_key=KEY)
expected = plain(
    "/v1/systemone",
    {"state": STATE, "questions": {name: question.model_dump(mode="json") for name, question in QUESTIONS.items()}},
)["answers"]


def check_answers(how, answers):
    check(f"{how}: the choice", answers["intent"].choice == expected["intent"]["choice"])
    check(f"{how}: the noul", close(answers["angry"].noul, expected["angry"]["noul"], EXACT))
    check(f"{how}: the score", close(answers["urgency"].score, expected["urgency"]["score"], EXACT))


check_answers("system_one", client.system_one(STATE, QUESTIONS).answers)
decision = client.decide(STATE, CRITERIA)
check("decide", decision.choice in CRITERIA)
ranking = client.rank(STATE, CRITERIA, question="What does the customer want?")
rows = plain("/v1/rank", {"state": STATE, "candidates": CRITERIA, "question": "What does the customer want?"})["ranked"]
check("rank", [row.candidate for row in ranking.ranked] == [row["candidate"] for row in rows])
check("its score", close(ranking.ranked[0].score, rows[0]["score"], EXACT))
check("health", client.health()["status"] == "ready")


async def ask_async():
    other = AsyncDecisionClient(URL, api_key=KEY)
    try:
        return (await other.system_one(STATE, QUESTIONS)).answers
    finally:
        await other.aclose()


check_answers("the asynchronous client", asyncio.run(ask_async()))


class Team(BaseModel):
    team: Literal["billing", "technical", "sales"] = Field(description="Which team should handle this?")


def agent(url, key=KEY):
    return Agent(GemmaDecisionModel(base_url=url, api_key=key), output_type=Team, instructions="Handle the ticket.")


check("GemmaDecisionModel", agent(URL).run_sync(STATE).output.team in ("billing", "technical", "sales"))
for name, url, key, status in [("a wrong key", URL, "wrong", 401), ("a full queue", FULL_URL, KEY, 503), ("the deadline", SLOW_URL, KEY, 504)]:
    error = raised(lambda: agent(url, key).run_sync(STATE))
    check(f"GemmaDecisionModel: {name}", isinstance(error, ModelHTTPError) and error.status_code == status)


def status_of(call):
    error = raised(call)
    return error.response.status_code if isinstance(error, httpx.HTTPStatusError) else None


check("an error", status_of(lambda: client.decide("word " * 3000, CRITERIA)) == 422)
check("a wrong key", status_of(lambda: DecisionClient(URL, api_key="wrong").decide(STATE, CRITERIA)) == 401)
check("a full queue", status_of(lambda: DecisionClient(FULL_URL, api_key=KEY).decide(STATE, CRITERIA)) == 503)
check("the deadline", status_of(lambda: DecisionClient(SLOW_URL, api_key=KEY).decide(STATE, CRITERIA)) == 504)
error = raised(lambda: DecisionClient(SLOW_URL, api_key=KEY, timeout=0.1).decide(STATE, CRITERIA))
check("the client's own timeout", isinstance(error, httpx.TimeoutException))

report()
