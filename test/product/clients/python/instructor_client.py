"""instructor by its default, a forced tool, and with the schema in the request."""

import instructor
import openai
from instructor.core import InstructorRetryException
from pydantic import BaseModel

import checks
from checks import expect


class Fare(BaseModel):
    stops: int


def client(mode: instructor.Mode = instructor.Mode.TOOLS, key: str = checks.KEY):
    server = openai.OpenAI(base_url=checks.BASE_URL, api_key=key)
    return instructor.from_openai(server, mode=mode)


def ask(other: instructor.Instructor, model: str = checks.MODEL, **more: object) -> Fare:
    messages = [{"role": "user", "content": checks.TOOL_QUESTION}]
    return other.create(model=model, messages=messages, response_model=Fare, **more)


def mode_of(mode: instructor.Mode) -> None:
    expect(ask(client(mode)).stops, 3)


def stream() -> None:
    parts = client().create_partial(
        model=checks.MODEL,
        messages=[{"role": "user", "content": checks.TOOL_QUESTION}],
        response_model=Fare,
    )
    expect(list(parts)[-1].stops, 3)


def refused(key: str, model: str, status: int, code: str, words: str) -> None:
    try:
        ask(client(key=key), model)
    except InstructorRetryException as error:
        cause = error.__cause__
        while cause is not None and not isinstance(cause, openai.APIStatusError):
            cause = cause.__cause__ or cause.__context__
        if cause is None:
            raise
        expect((cause.status_code, cause.code, words in str(error)), (status, code, True))
        return
    raise AssertionError("InstructorRetryException was not raised")


checks.run(
    {
        "tool": lambda: mode_of(instructor.Mode.TOOLS),
        "schema": lambda: mode_of(instructor.Mode.JSON_SCHEMA),
        "stream": stream,
        "401": lambda: refused(
            checks.REVOKED_KEY, checks.MODEL, 401, "invalid_api_key", "was revoked"
        ),
        "402": lambda: refused(
            checks.POOR_KEY, checks.EXPENSIVE_MODEL, 402, "insufficient_credits", "can cost up to"
        ),
        "404": lambda: refused(
            checks.KEY, checks.UNKNOWN_MODEL, 404, "model_not_found", "must be an id"
        ),
    }
)
