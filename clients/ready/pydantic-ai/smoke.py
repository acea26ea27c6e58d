"""Both models of PydanticAI: SystemOneModel, and TypeSafeModel through TypeSafe's SDK."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field
from pydantic_ai import Agent, ModelAPIError, ModelHTTPError
from pydantic_ai.models.system_one import SystemOneModel
from pydantic_ai.models.typesafe import TypeSafeModel
from pydantic_ai.providers.system_one import SystemOneProvider
from pydantic_ai.providers.typesafe import TypeSafeProvider
from ready import FULL_URL, KEY, SLOW_URL, URL, check, raised, report
from typesafe_sdk import AsyncTypeSafeClient, RetryPolicy

STATE = "I was charged twice for one order. Give me my money back today!"


class Ticket(BaseModel):
    team: Literal["billing", "technical", "sales"] = Field(description="Which team should handle this?")
    angry: bool = Field(description="Is the customer angry?")
    urgency: Annotated[float, Field(ge=0, le=1)] = Field(description="Does it have to be done today?")


class Team(BaseModel):
    team: Literal["billing", "technical", "sales"] = Field(description="Which team should handle this?")


def system_one(url, key=KEY, **settings):
    return SystemOneModel("jev-latest", provider=SystemOneProvider(base_url=url, api_key=key), settings=settings)


def type_safe(url, key=KEY, **settings):
    client = AsyncTypeSafeClient(api_key=key, base_url=url, retry=RetryPolicy(max_retries=0))
    return TypeSafeModel("jev-latest", provider=TypeSafeProvider(typesafe_client=client), settings=settings)


def ask(model, output_type=Team, **options):
    return Agent(model, output_type=output_type).run_sync(STATE, **options)


for name, model in [("SystemOneModel", system_one), ("TypeSafeModel", type_safe)]:
    result = ask(model(URL), Ticket)
    check(f"{name}: a choice", result.output.team in ("billing", "technical", "sales"))
    check(f"{name}: a noul", isinstance(result.output.angry, bool))
    check(f"{name}: a probability", 0 <= result.output.urgency <= 1)
    check(f"{name}: usage", result.usage.input_tokens > 0)

    wrong = raised(lambda: ask(model(URL, key="wrong")))
    check(f"{name}: a wrong key", isinstance(wrong, ModelHTTPError) and wrong.status_code == 401)
    full = raised(lambda: ask(model(FULL_URL)))
    check(f"{name}: a full queue", isinstance(full, ModelHTTPError) and full.status_code == 503)
    late = raised(lambda: ask(model(SLOW_URL)))
    check(f"{name}: the deadline", isinstance(late, ModelHTTPError) and late.status_code == 504)
    hasty = raised(lambda: ask(model(SLOW_URL, timeout=0.1)))
    check(f"{name}: the client's own timeout", isinstance(hasty, ModelAPIError))
    large = raised(lambda: Agent(model(URL), output_type=Team).run_sync("word " * 3000))
    check(f"{name}: an error", isinstance(large, ModelHTTPError) and large.status_code == 422)

with_extra = ask(system_one(URL), Team, model_settings={"temperature": 0.5, "extra_body": {"note": 1}})
check("SystemOneModel: unknown fields", with_extra.output.team in ("billing", "technical", "sales"))

report()
