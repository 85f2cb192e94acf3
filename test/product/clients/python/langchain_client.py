"""LangChain's chat model for OpenAI, as an application uses it."""

import openai
from langchain_openai import ChatOpenAI

import checks
from checks import expect, expect_error


def model(key: str = checks.KEY, name: str = checks.MODEL) -> ChatOpenAI:
    return ChatOpenAI(model=name, base_url=checks.BASE_URL, api_key=key, max_retries=0)


def chat() -> None:
    expect(model().invoke(checks.QUESTION).content, checks.SENTENCE)


def stream() -> None:
    chunks = list(model().stream(checks.QUESTION))
    expect("".join(chunk.content for chunk in chunks), checks.SENTENCE)


def tool() -> None:
    reply = model().bind_tools([checks.TOOL]).invoke(checks.TOOL_QUESTION)
    calls = [(call["name"], call["args"]) for call in reply.tool_calls]
    expect(calls, [(checks.TOOL_NAME, {"stops": 3})])


def error_401() -> None:
    call = lambda: model(checks.REVOKED_KEY).invoke(checks.QUESTION)
    expect_error(openai.AuthenticationError, 401, "invalid_api_key", call)


def error_402() -> None:
    call = lambda: model(checks.POOR_KEY, checks.EXPENSIVE_MODEL).invoke(checks.QUESTION)
    expect_error(openai.APIStatusError, 402, "insufficient_credits", call)


def error_404() -> None:
    call = lambda: model(name=checks.UNKNOWN_MODEL).invoke(checks.QUESTION)
    expect_error(openai.NotFoundError, 404, "model_not_found", call)


checks.run(
    {
        "chat": chat,
        "stream": stream,
        "tool": tool,
        "401": error_401,
        "402": error_402,
        "404": error_404,
    }
)
