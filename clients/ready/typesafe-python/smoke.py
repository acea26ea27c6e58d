"""The synchronous and the asynchronous client. Bodies of 1,024 bytes or more are sent as zstd."""

import asyncio

import typesafe_sdk as sdk
from ready import FULL_URL, KEY, SLOW_URL, URL, check, close, plain, raised, report
from typesafe_sdk import AsyncTypeSafeClient, Choice, Noul, RetryPolicy, Score, TypeSafeClient

STATE = "I was charged twice for one order. Give me my money back today!"
CRITERIA = {"refund": "Wants money back", "cancel": "Wants to end a subscription"}
LEVELS = ["can wait", "this week", "today"]
ONE = {"q": Noul(instructions="Is it?")}


def at(url, **options):
    return TypeSafeClient(**{"api_key": KEY, "base_url": url, "retry": RetryPolicy(max_retries=0), **options})


client = at(URL)

names = [model.name for model in client.models.list().models]
check("the models are listed", "jev-latest" in names)

questions = {
    "intent": Choice(instructions="What does the customer want?", criteria=CRITERIA),
    "angry": Noul(instructions="The customer is angry."),
    "urgency": Score(instructions="How urgent is this?", criteria=LEVELS),
}
body = {
    "questions": {
        "intent": {"type": "choice", "instructions": "What does the customer want?", "criteria": CRITERIA},
        "angry": {"type": "noul", "instructions": "The customer is angry."},
        "urgency": {"type": "score", "instructions": "How urgent is this?", "criteria": LEVELS},
    }
}


def check_answers(how, result, state):
    expected = plain("/v1/systemone", {"state": state, **body})["answers"]
    intent, angry, urgency = result.answers["intent"], result.answers["angry"], result.answers["urgency"]
    check(f"{how}: the choice is the plain one", intent.choice == expected["intent"]["choice"])
    for label in CRITERIA:
        check(f"{how}: its share", close(intent.probabilities[label], expected["intent"]["probabilities"][label]))
    check(f"{how}: its confidence", close(intent.confidence, 2 * expected["intent"]["confidence"] - 1, 0.011))
    check(f"{how}: the noul", close(angry.noul, expected["angry"]["noul"]))
    check(f"{how}: the score", close(urgency.score, expected["urgency"]["score"]))
    check(f"{how}: the legend", urgency.legend == dict(enumerate(LEVELS)))


check_answers("a short body", client.system_one(state=STATE, questions=questions), STATE)
long_state = {"mail": STATE * 20}
check_answers("a body as zstd", client.system_one(state=long_state, questions=questions), long_state)


async def ask_async():
    async with AsyncTypeSafeClient(api_key=KEY, base_url=URL, retry=RetryPolicy(max_retries=0)) as other:
        return await other.system_one(state=STATE, questions=questions)


check_answers("the asynchronous client", asyncio.run(ask_async()), STATE)

many = {f"q{at}": Noul(instructions=f"Is it {at}?") for at in range(100)}
many["wide"] = Choice(criteria={f"option {at}": None for at in range(255)})
many["open"] = Noul(criteria={"true": "It is about money."})
many["single"] = Score(criteria=["only"])
result = client.system_one(state=[STATE], questions=many)
check("255 options, no instructions, one level, 103 questions", len(result.answers) == 103)
check("the request's id is there", bool(result.request_id))

error = raised(lambda: client.system_one(state=STATE, questions={"q": {"type": "choice", "criteria": {"": None}}}))
check("an error says what is wrong", isinstance(error, sdk.TypeSafeUnprocessableEntityError) and "questions.q" in str(error))
error = raised(lambda: client.system_one(state=STATE, questions=ONE, model="jev-0.1"))
check("another model is refused", isinstance(error, sdk.TypeSafeBadRequestError))
error = raised(lambda: client.system_one(state=STATE, questions={"q": sdk.Box(instructions="The dog")}))
check("a question about an image is refused", isinstance(error, sdk.TypeSafeUnprocessableEntityError) and "images" in str(error))
error = raised(lambda: at(URL, api_key="wrong").system_one(state=STATE, questions=ONE))
check("a wrong key is refused", isinstance(error, sdk.TypeSafeAuthenticationError))
error = raised(lambda: at(FULL_URL).system_one(state=STATE, questions=ONE))
check("a full queue is told", isinstance(error, sdk.TypeSafeInternalServerError) and error.status == 503)
error = raised(lambda: at(SLOW_URL).system_one(state=STATE, questions=ONE))
check("the deadline is told", isinstance(error, sdk.TypeSafeInternalServerError) and error.status == 504)
error = raised(lambda: at(SLOW_URL, timeout=0.1).system_one(state=STATE, questions=ONE))
check("the client's own timeout works", isinstance(error, sdk.TypeSafeAPITimeoutError))

report()
