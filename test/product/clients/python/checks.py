"""What the Python clients share: where the product is, and how a check reports its end."""

import json
import os
import time
import traceback
from collections.abc import Callable

BASE_URL = os.environ["CLIENT_BASE_URL"]
# Anthropic's SDK adds the version to the path itself.
ROOT_URL = BASE_URL.removesuffix("/v1")
KEY = os.environ["CLIENT_KEY"]
REVOKED_KEY = os.environ["CLIENT_REVOKED_KEY"]
POOR_KEY = os.environ["CLIENT_POOR_KEY"]
MODEL = os.environ["CLIENT_MODEL"]
EXPENSIVE_MODEL = os.environ["CLIENT_EXPENSIVE_MODEL"]
SENTENCE = os.environ["CLIENT_SENTENCE"]

QUESTION = "When do I pay?"
TOOL_QUESTION = "What does a ride of 3 stops cost?"
UNKNOWN_MODEL = "unheard-of"
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
        start = time.monotonic()
        result: dict[str, object] = {"check": name, "ok": True}
        try:
            check()
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{os.path.basename(place.filename)}:{place.lineno}"
            detail = f"{type(error).__name__}: {error} ({where})"
            result = {"check": name, "ok": False, "detail": detail}
        ms = round((time.monotonic() - start) * 1000)
        print(json.dumps({**result, "ms": ms}), flush=True)
