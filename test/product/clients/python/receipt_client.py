"""Verifies receipts with joserfc by the key set of the product, as docs/receipts.md says."""

import json
import time
import urllib.parse

import httpx
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

import checks
from checks import expect

ORIGIN = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(checks.BASE_URL))
HEADERS = {"authorization": f"Bearer {checks.KEY}"}
BODY = {
    "model": checks.MODEL,
    "messages": [{"role": "user", "content": checks.QUESTION}],
}
TYPE = "farebox-receipt+jwt"
ATTEMPTS = 30


def keys() -> KeySet:
    return KeySet.import_key_set(httpx.get(f"{ORIGIN}/.well-known/jwks.json").json())


def claims_of(token: str) -> dict:
    """What a receipt says; raises JoseError if no key of the product signed it."""
    verified = jws.deserialize_compact(token, keys(), algorithms=["EdDSA"])
    expect(verified.headers()["typ"], TYPE)
    return json.loads(verified.payload)


def call(**headers: str) -> dict:
    """The svc of a chat; of a stream, the one in the last frame."""
    body = {**BODY, "stream": "x-svc-receipt" in headers}
    answer = httpx.post(
        f"{checks.BASE_URL}/chat/completions", json=body, headers={**HEADERS, **headers}
    )
    expect(answer.status_code, 200)
    if not body["stream"]:
        return answer.json()["svc"]
    frames = [line for line in answer.text.splitlines() if line.startswith("data: {")]
    return json.loads(frames[-1].removeprefix("data: "))["svc"]


def fetched(request: str) -> str:
    """The receipt of a request, once its call is final."""
    for _ in range(ATTEMPTS):
        answer = httpx.get(f"{checks.BASE_URL}/receipts/{request}", headers=HEADERS)
        if answer.status_code == 200:
            return answer.json()["jws"]
        expect((answer.status_code, answer.json()["error"]["code"]), (409, "receipt_pending"))
        time.sleep(float(answer.headers["retry-after"]))
    raise AssertionError("the receipt stayed pending")


def expect_claims(token: str, svc: dict) -> None:
    claims = claims_of(token)
    expect(claims["jti"], svc["request_id"])
    expect(float(claims["receipt"]["cost_usd"]), svc["cost_usd"])
    expect(claims["receipt"]["model"], checks.MODEL)


def receipt() -> None:
    svc = call()
    expect_claims(fetched(svc["request_id"]), svc)


def inline() -> None:
    svc = call(**{"x-svc-receipt": "inline"})
    expect_claims(svc["receipt"], svc)
    expect(fetched(svc["request_id"]), svc["receipt"])


def altered(text: str) -> str:
    """The text with another first character. The last one may stand for bits that do not count."""
    return ("B" if text[0] == "A" else "A") + text[1:]


def forged() -> None:
    head, payload, signature = call(**{"x-svc-receipt": "inline"})["receipt"].split(".")
    for token in (f"{head}.{altered(payload)}.{signature}", f"{head}.{payload}.{altered(signature)}"):
        try:
            claims_of(token)
        except JoseError:
            continue
        raise AssertionError("a forged receipt was valid")


checks.run({"receipt": receipt, "inline": inline, "forged": forged})
