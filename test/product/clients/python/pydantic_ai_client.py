"""pydantic-ai on three doors: chat completions, Responses and Messages."""

import asyncio
import sys

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

import checks
from checks import expect

DOOR = sys.argv[1]


class Fare(BaseModel):
    stops: int


def model(key: str = checks.KEY, name: str = checks.MODEL) -> Model:
    if DOOR == "messages":
        provider = AnthropicProvider(base_url=checks.ROOT_URL, api_key=key)
        return AnthropicModel(name, provider=provider)
    kind = OpenAIChatModel if DOOR == "chat" else OpenAIResponsesModel
    return kind(name, provider=OpenAIProvider(base_url=checks.BASE_URL, api_key=key))


def chat() -> None:
    expect(Agent(model()).run_sync(checks.QUESTION).output, checks.SENTENCE)


def stream() -> None:
    async def streamed() -> str:
        async with Agent(model()).run_stream(checks.QUESTION) as result:
            return "".join([part async for part in result.stream_text(delta=True)])

    expect(asyncio.run(streamed()), checks.SENTENCE)


def tool() -> None:
    given: list[int] = []
    agent = Agent(model())

    @agent.tool_plain
    def get_fare(stops: int) -> str:
        """What a ride costs."""
        given.append(stops)
        return "3 dollars"

    output = agent.run_sync(checks.TOOL_QUESTION).output
    expect((output, given), (checks.SENTENCE, [3]))


def schema() -> None:
    agent = Agent(model(), output_type=Fare)
    expect(agent.run_sync(checks.TOOL_QUESTION).output, Fare(stops=3))


def refused(key: str, name: str, status: int, code: str) -> None:
    try:
        # Its own limit for Anthropic's models would reach the tier's monthly limit first.
        Agent(model(key, name), model_settings={"max_tokens": 1000}).run_sync(checks.QUESTION)
    except ModelHTTPError as error:
        expect((error.status_code, code in str(error.body)), (status, True))
        return
    raise AssertionError("ModelHTTPError was not raised")


checks.run(
    {
        "chat": chat,
        "stream": stream,
        "tool": tool,
        "schema": schema,
        "401": lambda: refused(checks.REVOKED_KEY, checks.MODEL, 401, "invalid_api_key"),
        "402": lambda: refused(
            checks.POOR_KEY, checks.EXPENSIVE_MODEL, 402, "insufficient_credits"
        ),
        "404": lambda: refused(checks.KEY, checks.UNKNOWN_MODEL, 404, "model_not_found"),
    }
)
