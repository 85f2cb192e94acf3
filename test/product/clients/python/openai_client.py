"""The official Python SDK."""

import json

import openai

import checks
from checks import expect, expect_error

client = openai.OpenAI(base_url=checks.BASE_URL, api_key=checks.KEY, max_retries=0)
MESSAGES = [{"role": "user", "content": checks.QUESTION}]


def chat() -> None:
    reply = client.chat.completions.create(model=checks.MODEL, messages=MESSAGES)
    expect(reply.choices[0].message.content, checks.SENTENCE)


def stream() -> None:
    text = ""
    for chunk in client.chat.completions.create(
        model=checks.MODEL, messages=MESSAGES, stream=True
    ):
        text += chunk.choices[0].delta.content or ""
    expect(text, checks.SENTENCE)


def tool() -> None:
    messages = [{"role": "user", "content": checks.TOOL_QUESTION}]
    first = client.chat.completions.create(
        model=checks.MODEL, messages=messages, tools=[checks.TOOL]
    )
    message = first.choices[0].message
    (call,) = message.tool_calls
    expect((call.function.name, json.loads(call.function.arguments)), (checks.TOOL_NAME, {"stops": 3}))
    messages += [message, {"role": "tool", "tool_call_id": call.id, "content": "3 dollars"}]
    second = client.chat.completions.create(
        model=checks.MODEL, messages=messages, tools=[checks.TOOL]
    )
    expect(second.choices[0].message.content, checks.SENTENCE)


def list_models() -> None:
    models = {model.id: model for model in client.models.list()}
    expect(models[checks.MODEL].object, "model")
    expect(type(models[checks.MODEL].created), int)


def retrieve() -> None:
    model = client.models.retrieve(checks.MODEL)
    expect((model.id, model.object, type(model.created)), (checks.MODEL, "model", int))


def error_401() -> None:
    other = client.with_options(api_key=checks.REVOKED_KEY)
    call = lambda: other.chat.completions.create(model=checks.MODEL, messages=MESSAGES)
    expect_error(openai.AuthenticationError, 401, "invalid_api_key", call)


def error_402() -> None:
    poor = client.with_options(api_key=checks.POOR_KEY)
    call = lambda: poor.chat.completions.create(model=checks.EXPENSIVE_MODEL, messages=MESSAGES)
    expect_error(openai.APIStatusError, 402, "insufficient_credits", call)


def error_404() -> None:
    call = lambda: client.chat.completions.create(model=checks.UNKNOWN_MODEL, messages=MESSAGES)
    expect_error(openai.NotFoundError, 404, "model_not_found", call)


checks.run(
    {
        "chat": chat,
        "stream": stream,
        "tool": tool,
        "list": list_models,
        "retrieve": retrieve,
        "401": error_401,
        "402": error_402,
        "404": error_404,
    }
)
