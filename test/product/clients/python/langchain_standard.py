"""LangChain's own integration tests of chat models, with the product in the place of a provider."""

import itertools
import json
import os
import sys

import pytest
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests

# One key may make 60 requests a minute on the applications' surface, and the suite makes more.
KEYS = itertools.cycle(os.environ["CLIENT_KEYS"].split(","))
TESTS_AT_LEAST = 35


class TestFarebox(ChatModelIntegrationTests):
    """The whole suite. It skips what a model without images, sound and files does not do."""

    @property
    def chat_model_class(self) -> type[ChatOpenAI]:
        return ChatOpenAI

    @property
    def chat_model_params(self) -> dict[str, object]:
        return {
            "model": os.environ["CLIENT_MODEL"],
            "base_url": os.environ["CLIENT_BASE_URL"],
            "api_key": next(KEYS),
            "stream_usage": True,
            "max_retries": 0,
        }

    @property
    def supports_json_mode(self) -> bool:
        return True

    @property
    def model_override_value(self) -> str:
        return os.environ["CLIENT_OTHER_MODEL"]


class Reporter:
    """Prints one line of JSON for each test that ran, and one for the suite as a whole."""

    def __init__(self) -> None:
        self.ran = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped or (report.passed and report.when != "call"):
            return
        self.ran += report.when == "call"
        name = report.nodeid.rpartition("::")[2]
        line = {"check": name, "ok": report.passed}
        if not report.passed:
            crash = getattr(report.longrepr, "reprcrash", None)
            message = crash.message if crash else report.longreprtext
            line["detail"] = " ".join(message.split())[:300]
        print(json.dumps(line), flush=True)

    def pytest_sessionfinish(self) -> None:
        detail = f"{self.ran} tests ran, and there are {TESTS_AT_LEAST} at least"
        ok = self.ran >= TESTS_AT_LEAST
        print(json.dumps({"check": "the suite as a whole", "ok": ok, "detail": detail}), flush=True)


if __name__ == "__main__":
    # LangChain keeps one HTTP client for all models, so that all tests must share one event loop.
    settings = ["asyncio_mode=auto", "asyncio_default_test_loop_scope=session"]
    options = ["-q", "--no-header", "-s", "-p", "no:cacheprovider"]
    options += [word for setting in settings for word in ("-o", setting)]
    sys.exit(pytest.main([*options, __file__], plugins=[Reporter()]))
