"""LangChain's chat model for Anthropic, with its own retries."""

import anthropic
from langchain_anthropic import ChatAnthropic

import checks
from checks import expect


def model(key: str = checks.KEY, name: str = checks.MODEL) -> ChatAnthropic:
    return ChatAnthropic(model=name, base_url=checks.ROOT_URL, api_key=key, max_tokens=1000)


def chat() -> None:
    expect(model().invoke(checks.QUESTION).content, checks.SENTENCE)


def stream() -> None:
    text = "".join(chunk.text for chunk in model().stream(checks.QUESTION))
    expect(text, checks.SENTENCE)


def tool() -> None:
    reply = model().bind_tools([checks.TOOL]).invoke(checks.TOOL_QUESTION)
    calls = [(call["name"], call["args"]) for call in reply.tool_calls]
    expect(calls, [(checks.TOOL_NAME, {"stops": 3})])


def refused(key: str, name: str, status: int, code: str) -> None:
    try:
        model(key, name).invoke(checks.QUESTION)
    except anthropic.APIStatusError as error:
        expect((error.status_code, error.body["error"]["code"]), (status, code))
        return
    raise AssertionError("APIStatusError was not raised")


checks.run(
    {
        "chat": chat,
        "stream": stream,
        "tool": tool,
        "401": lambda: refused(checks.REVOKED_KEY, checks.MODEL, 401, "invalid_api_key"),
        "402": lambda: refused(
            checks.POOR_KEY, checks.EXPENSIVE_MODEL, 402, "insufficient_credits"
        ),
        "404": lambda: refused(checks.KEY, checks.UNKNOWN_MODEL, 404, "model_not_found"),
    }
)
