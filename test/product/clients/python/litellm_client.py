"""LiteLLM as a library."""

import json

import litellm

import checks
from checks import expect, expect_error

litellm.telemetry = False
MESSAGES = [{"role": "user", "content": checks.QUESTION}]


def complete(key: str = checks.KEY, model: str = checks.MODEL, **more: object):
    return litellm.completion(
        **{"messages": MESSAGES, **more},
        model=f"openai/{model}",
        api_base=checks.BASE_URL,
        api_key=key,
        max_retries=0,
    )


def chat() -> None:
    expect(complete().choices[0].message.content, checks.SENTENCE)


def stream() -> None:
    text = ""
    for chunk in complete(stream=True):
        text += chunk.choices[0].delta.content or ""
    expect(text, checks.SENTENCE)


def tool() -> None:
    messages = [{"role": "user", "content": checks.TOOL_QUESTION}]
    (call,) = complete(messages=messages, tools=[checks.TOOL]).choices[0].message.tool_calls
    expect((call.function.name, json.loads(call.function.arguments)), (checks.TOOL_NAME, {"stops": 3}))


def list_models() -> None:
    models = litellm.get_valid_models(
        check_provider_endpoint=True,
        custom_llm_provider="openai",
        litellm_params=litellm.LiteLLM_Params(
            model="openai/any", api_base=checks.BASE_URL, api_key=checks.KEY
        ),
    )
    expect(checks.MODEL in models, True)


# LiteLLM keeps the status and the message of an error, and drops its code.


def error_401() -> None:
    call = lambda: complete(checks.REVOKED_KEY)
    message = expect_error(litellm.AuthenticationError, 401, None, call)
    expect("The API key is wrong" in message, True)


def error_402() -> None:
    call = lambda: complete(checks.POOR_KEY, checks.EXPENSIVE_MODEL)
    message = expect_error(litellm.APIError, 402, None, call)
    expect("The balance has" in message, True)


def error_404() -> None:
    call = lambda: complete(model=checks.UNKNOWN_MODEL)
    message = expect_error(litellm.NotFoundError, 404, None, call)
    expect("model must be an id" in message, True)


checks.run(
    {
        "chat": chat,
        "stream": stream,
        "tool": tool,
        "list": list_models,
        "401": error_401,
        "402": error_402,
        "404": error_404,
    }
)
