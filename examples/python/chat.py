"""Farebox with the official OpenAI SDK: only the address and the key are others."""

import os
import sys

from openai import APIStatusError, OpenAI

client = OpenAI(base_url=os.environ["FAREBOX_URL"], api_key=os.environ["FAREBOX_KEY"])
model = os.environ.get("FAREBOX_MODEL", "farebox-guide")
messages = [{"role": "user", "content": "What is a hold?"}]

try:
    for one in client.models.list():
        print("model:", one.id)

    reply = client.chat.completions.create(model=model, messages=messages)
    print("answer:", reply.choices[0].message.content)
    print("cost:", reply.svc["cost_usd"], "USD, request", reply.svc["request_id"])

    print("stream: ", end="")
    cost = 0
    for chunk in client.chat.completions.create(model=model, messages=messages, stream=True):
        if chunk.choices:
            print(chunk.choices[0].delta.content or "", end="", flush=True)
        cost = getattr(chunk, "svc", {"cost_usd": cost})["cost_usd"]
    print("\ncost:", cost, "USD")
except APIStatusError as error:
    print(f"refused: {error.status_code} {error.code}: {error.message}", file=sys.stderr)
    sys.exit(1)
