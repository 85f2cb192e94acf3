"""What the Python clients share: where the product is, and how a check reports its end."""

import json
import os
import traceback
from collections.abc import Callable

BASE_URL = os.environ["CLIENT_BASE_URL"]
KEY = os.environ["CLIENT_KEY"]
WRONG_KEY = os.environ["CLIENT_WRONG_KEY"]
POOR_KEY = os.environ["CLIENT_POOR_KEY"]
MODEL = os.environ["CLIENT_MODEL"]
EXPENSIVE_MODEL = os.environ["CLIENT_EXPENSIVE_MODEL"]
SENTENCE = os.environ["CLIENT_SENTENCE"]

QUESTION = "When do I pay?"
TOOL_QUESTION = "What does a ride of 3 stops cost?"
TOOL_NAME = "get_fare"
TOOL = {
    "type": "function",
    "function": {
        "name": TOOL_NAME,
        "description": "What a ride costs",
        "parameters": {
            "type": "object",
            "properties": {"stops": {"type": "integer"}},
            "required": ["stops"],
        },
    },
}


def expect(actual: object, expected: object) -> None:
    """Fails the check unless both are equal."""
    if actual != expected:
        raise AssertionError(f"{actual!r} instead of {expected!r}")


def expect_error(
    kind: type[Exception], status: int, code: str | None, call: Callable[[], object]
) -> str:
    """What the call's error says; fails the check unless it has this type, status and code."""
    try:
        call()
    except kind as error:
        expect((error.status_code, error.code), (status, code))
        return str(error)
    raise AssertionError(f"{kind.__name__} was not raised")


def run(checks: dict[str, Callable[[], None]]) -> None:
    """Runs every check and prints one line of JSON for each."""
    for name, check in checks.items():
        try:
            check()
            print(json.dumps({"check": name, "ok": True}), flush=True)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{os.path.basename(place.filename)}:{place.lineno}"
            detail = f"{type(error).__name__}: {error} ({where})"
            print(json.dumps({"check": name, "ok": False, "detail": detail}), flush=True)
