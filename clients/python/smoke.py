"""Asks running services through the client that openapi-python-client makes of their contract: every operation,
every type of question and answer, every error that can be provoked. `clients/run.mjs` generates the client,
type-checks this program and runs it.

    smoke.py <URL of a service without a key> <of one with a key> <of one that is full> <the key>
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, TypeVar, assert_never

import httpx
from decision_client import AuthenticatedClient, Client
from decision_client.api.documentation import get_docs, get_openapi, get_redoc, get_typed_openapi
from decision_client.api.inference import rank, systemone
from decision_client.api.service import get_health, get_livez, get_metrics, get_ready, list_models
from decision_client.models import (
    ChoiceAnswer,
    ChoiceQuestion,
    ChoiceQuestionCriteria,
    ChoiceQuestionType,
    Decisions,
    ErrorBody,
    GetOpenapiResponse200,
    GetTypedOpenapiResponse200,
    Health,
    HealthStatus,
    Liveness,
    LivenessStatus,
    ModelList,
    NoulAnswer,
    NoulQuestion,
    NoulQuestionCriteriaType0,
    NoulQuestionType,
    Ranking,
    RankRequest,
    ScoreAnswer,
    ScoreQuestion,
    ScoreQuestionType,
    SystemoneRequest,
    SystemoneRequestQuestions,
    ValidationIssue,
    ValidationIssueType,
)

Answer = ChoiceAnswer | NoulAnswer | ScoreAnswer
Question = ChoiceQuestion | NoulQuestion | ScoreQuestion
Body = TypeVar("Body")

TOLERANCE = 1e-9
PAST_FLOATS = 2**53 + 1
"""The first integer that a float64 cannot hold."""

PAST_BODY_LIMIT = 2_097_153
KETTLE = RankRequest(state="A kettle.", candidates=["kitchen", "garden"])

passed = 0


def check(statement: str, holds: bool) -> None:
    global passed
    if not holds:
        raise AssertionError(f"not so: {statement}")
    passed += 1


def of_type(wanted: type[Body], body: object) -> Body:
    """The decoded body, which must be of the class that the contract names."""
    if not isinstance(body, wanted):
        raise AssertionError(f"not so: {body!r} is of type {wanted.__name__}")
    return body


def near(left: float, right: float) -> bool:
    return abs(left - right) <= TOLERANCE


def softmax(scores: Mapping[str, float], temperature: float) -> dict[str, float]:
    largest = max(scores.values())
    weights = {label: math.exp((score - largest) / temperature) for label, score in scores.items()}
    total = math.fsum(weights.values())
    return {label: weight / total for label, weight in weights.items()}


def choice(instructions: Any, criteria: Mapping[str, Any]) -> ChoiceQuestion:
    described = ChoiceQuestionCriteria.from_dict(criteria)
    return ChoiceQuestion(type_=ChoiceQuestionType.CHOICE, instructions=instructions, criteria=described)


def request(state: Any, questions: Mapping[str, Question]) -> SystemoneRequest:
    named = SystemoneRequestQuestions()
    named.additional_properties.update(questions)
    return SystemoneRequest(state=state, questions=named)


def check_distribution(
    name: str, probabilities: Mapping[str, float], scores: Mapping[str, float], temperature: float
) -> None:
    expected = softmax(scores, temperature)
    check(f"{name}: probabilities sum to 1", near(math.fsum(probabilities.values()), 1))
    check(f"{name}: scores and probabilities name the same", scores.keys() == probabilities.keys())
    check(
        f"{name}: probabilities are the softmax of the scores",
        all(near(value, expected[label]) for label, value in probabilities.items()),
    )


def check_answer(name: str, answer: Answer, temperature: float) -> None:
    probabilities = answer.probabilities.additional_properties
    scores = answer.scores.additional_properties
    check_distribution(name, probabilities, scores, temperature)
    check(f"{name}: confidence is the largest", answer.confidence == max(probabilities.values()))
    check(f"{name}: the answer follows from them", follows_from(answer))


def follows_from(answer: Answer) -> bool:
    """Whether the answer itself is what its scores and probabilities say. mypy refuses it if a type is left out."""
    probabilities = answer.probabilities.additional_properties
    scores = answer.scores.additional_properties
    match answer:
        case ChoiceAnswer():
            return scores[answer.choice] == max(scores.values())
        case NoulAnswer():
            return answer.noul == probabilities["true"]
        case ScoreAnswer():
            return near(answer.score, math.fsum(int(level) * p for level, p in probabilities.items()))
        case _:
            assert_never(answer)


def check_question_types(client: AuthenticatedClient) -> None:
    criteria = {"refund": "Wants money back", "cancel": None, "technical": {"fault": "Something is broken"}}
    outcomes = NoulQuestionCriteriaType0.from_dict({"no": "Paid once", "yes": "Paid twice"})
    questions: dict[str, Question] = {
        "intent": choice("What does the customer want?", criteria),
        "angry": NoulQuestion(
            type_=NoulQuestionType.NOUL, instructions="The customer is angry.", criteria=None
        ),
        "urgency": ScoreQuestion(
            type_=ScoreQuestionType.SCORE,
            instructions="How urgent is this?",
            criteria=["low", "medium", "high"],
        ),
        "": NoulQuestion(type_=NoulQuestionType.NOUL, instructions=None, criteria=outcomes),
    }
    body = request("I was charged twice for one order.", questions)
    decisions = of_type(Decisions, systemone.sync(client=client, body=body))

    answers = decisions.answers.additional_properties
    check("every question has an answer", answers.keys() == questions.keys())
    for name, question in questions.items():
        check(
            f'answer "{name}": is of its question\'s type', answers[name].type_.value == question.type_.value
        )
        check_answer(f'answer "{name}"', answers[name], decisions.temperature)
    labels = {name: set(answer.scores.additional_keys) for name, answer in answers.items()}
    check("a choice has its labels", labels["intent"] == set(criteria))
    check("a noul has false and true", labels[""] == {"false", "true"})
    check("a score has its levels", labels["urgency"] == {"0", "1", "2"})
    usage = decisions.usage
    check("tokens are counted", 0 < usage.input_tokens == usage.total_tokens)


def check_ranking(client: AuthenticatedClient) -> None:
    labelled = {"manual": "Read the manual.", "replace": "We will send a new kettle."}
    texts = list(labelled.values())
    forms: list[tuple[str, Any, dict[str, str]]] = [
        ("ranked map", labelled, labelled),
        ("ranked list", texts, {str(place): text for place, text in enumerate(texts)}),
    ]
    for name, candidates, wanted in forms:
        body = RankRequest(
            state="The kettle no longer heats.", candidates=candidates, question="Which reply helps?"
        )
        ranking = of_type(Ranking, rank.sync(client=client, body=body))
        rows = ranking.ranked
        probabilities = {row.candidate: row.probability for row in rows}
        scores = {row.candidate: row.score for row in rows}
        check_distribution(name, probabilities, scores, ranking.temperature)
        check(f"{name}: each candidate keeps its text", {row.candidate: row.text for row in rows} == wanted)
        check(f"{name}: ranks count from 1", [row.rank for row in rows] == list(range(1, len(rows) + 1)))
        check(f"{name}: best first", [row.score for row in rows] == sorted(scores.values(), reverse=True))


def check_states(client: AuthenticatedClient) -> None:
    """States of any JSON type. Two states that render alike give the same scores."""

    def scores_of(state: Any) -> dict[str, float]:
        question = choice("Is it paid?", {"due": "Money is owed", "paid": "Nothing is owed"})
        decisions = of_type(Decisions, systemone.sync(client=client, body=request(state, {"q": question})))
        return of_type(ChoiceAnswer, decisions.answers["q"]).scores.additional_properties

    nested = {"order": {"number": PAST_FLOATS, "paid": [True, None]}}
    rendered = "order:\n  number: {}\n  paid:\n    - true\n    -"
    check(
        "a nested state arrives with all digits", scores_of(nested) == scores_of(rendered.format(PAST_FLOATS))
    )
    check("another number is another state", scores_of(nested) != scores_of(rendered.format(PAST_FLOATS - 1)))
    check("a null state is an empty one", scores_of(None) == scores_of(""))


def check_service(client: AuthenticatedClient) -> None:
    health = of_type(Health, get_health.sync(client=client))
    ready = of_type(Health, get_ready.sync(client=client))
    models = of_type(ModelList, list_models.sync(client=client)).models
    document = of_type(GetOpenapiResponse200, get_openapi.sync(client=client))
    typed = of_type(GetTypedOpenapiResponse200, get_typed_openapi.sync(client=client))
    check("the typed document is of the same version", typed["openapi"] == document["openapi"])
    check("it is ready", health.status == ready.status == HealthStatus.READY)
    live = of_type(Liveness, get_livez.sync(client=client))
    check("it is live", live.status == LivenessStatus.LIVE)
    metrics = of_type(str, get_metrics.sync(client=client))
    check("it tells its metrics", "decision_requests_total" in metrics)
    check("it serves one model", [model.id for model in models] == [health.model])
    check("the document is one for generators", document["openapi"] == "3.0.3")
    check("its limits are told", health.limits.max_body_bytes == PAST_BODY_LIMIT - 1)
    for page in [get_docs.sync(client=client), get_redoc.sync(client=client)]:
        check("the documentation is a page", "<html" in of_type(str, page))
    for model in [health.model, *health.aliases]:
        body = RankRequest(state="A kettle.", candidates=["kitchen", "garden"], question=None, model=model)
        ranking = of_type(Ranking, rank.sync(client=client, body=body))
        check(f"{model} is a name of the model", ranking.model == health.model)


def is_sentence(body: object) -> bool:
    """With every status but 422 an error has a sentence."""
    detail = of_type(ErrorBody, body).detail
    return isinstance(detail, str) and detail != ""


def check_refusals(url: str, full_url: str) -> None:
    client = AuthenticatedClient(url, token="any")
    check_invalid(client)

    # the contract declares no 404 and no 405, because they belong to no operation
    lost = rank.sync_detailed(client=AuthenticatedClient(f"{url}/nowhere", token="any"), body=KETTLE)
    undeclared = ErrorBody.from_dict(json.loads(lost.content))
    check("404: no such path", lost.status_code == HTTPStatus.NOT_FOUND and is_sentence(undeclared))

    def misuse(request: httpx.Request) -> None:
        request.method = "DELETE"

    misusing = Client(url, httpx_args={"event_hooks": {"request": [misuse]}})
    misused = list_models.sync_detailed(client=misusing)
    check("405: not this method", misused.status_code == HTTPStatus.METHOD_NOT_ALLOWED)
    undeclared = ErrorBody.from_dict(json.loads(misused.content))
    check("405: the methods are told", is_sentence(undeclared) and misused.headers["allow"] == "GET, HEAD")

    large = RankRequest(state="a" * PAST_BODY_LIMIT, candidates=KETTLE.candidates)
    refused = rank.sync_detailed(client=client, body=large)
    check("413: too large", refused.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    check("413: a sentence", is_sentence(refused.parsed))
    check("413: the next request is answered", isinstance(rank.sync(client=client, body=KETTLE), Ranking))

    full = rank.sync_detailed(client=AuthenticatedClient(full_url, token="any"), body=KETTLE)
    check("503: full", full.status_code == HTTPStatus.SERVICE_UNAVAILABLE and is_sentence(full.parsed))
    check("503: when to try again", int(full.headers["retry-after"]) > 0)


def check_invalid(client: AuthenticatedClient) -> None:
    body = request("A kettle.", {"place": choice("Where?", {"kitchen": None})})
    response = systemone.sync_detailed(client=client, body=body)
    check("422: one label is too few", response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY)
    # the contract leaves `detail` untyped and says in prose what a 422 puts there
    [issue] = [ValidationIssue.from_dict(item) for item in of_type(ErrorBody, response.parsed).detail]
    check("422: the issue has a type", issue.type_ == ValidationIssueType.TOO_FEW and issue.msg != "")
    check("422: the issue has a place", issue.loc == ["body", "questions", "place", "criteria"])


def check_key(url: str, key: str) -> None:
    without_key = Client(base_url=url)
    refused = {
        # the generator has no word for a key that may be needed or not
        "no key": rank.sync_detailed(client=without_key, body=KETTLE),  # type: ignore[arg-type]
        "a wrong key": rank.sync_detailed(client=AuthenticatedClient(url, token=f"not-{key}"), body=KETTLE),
    }
    for name, response in refused.items():
        check(f"401: {name}", response.status_code == HTTPStatus.UNAUTHORIZED and is_sentence(response.parsed))
    accepted = rank.sync_detailed(client=AuthenticatedClient(url, token=key), body=KETTLE)
    check("the key is accepted", accepted.status_code == HTTPStatus.OK)
    check("health needs no key", isinstance(get_health.sync(client=without_key), Health))


def main(url: str, keyed_url: str, full_url: str, key: str) -> None:
    # a service without a key looks at none
    client = AuthenticatedClient(url, token="any", raise_on_unexpected_status=True)
    check_service(client)
    check_question_types(client)
    check_ranking(client)
    check_states(client)
    check_refusals(url, full_url)
    check_key(keyed_url, key)
    print(f"python: {passed} checks passed")


main(*sys.argv[1:])
