// Tests embeddings and ranks under their caller's own cap on the cost of one call.

import { beforeEach, describe, expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { errorOf } from "../../support/api/api-world.ts";
import { sharedVectors } from "../../support/api/vectors-world.ts";
import { eventually } from "../../support/eventually.ts";
import { ranksOf, vectorsOf } from "../../support/fakes/fake-vectors.ts";

const { api, server } = await sharedVectors();

beforeEach(() => {
  server.reset();
  server.requests.length = 0;
});

// 40,000 bytes and 200 texts are $0.043 by bytes, and some $0.016 by tokens.
const TEXTS: readonly string[] = Array(200).fill("prepaid ".repeat(25));
const PLACES = [...TEXTS.keys()];
const EMBEDDINGS = { path: "/v1/embeddings", body: { model: "vectors", input: TEXTS } };
const RANKS = { path: "/v1/rerank", body: { model: "ranks", query: "fare", documents: TEXTS } };
const usage = { prompt_tokens: 10_000, total_tokens: 10_000 };

describe.each([
  { ...EMBEDDINGS, reply: () => vectorsOf(PLACES, usage) },
  {
    ...RANKS,
    reply: () =>
      ranksOf(
        PLACES.map((place) => [place, 1]),
        { usage },
      ),
  },
])("a call of $path with x-svc-max-cost-usd", ({ path, body, reply }) => {
  const send = async (most: string) => {
    const account = await api.account({ contract: "enterprise", paid: "5" });
    const headers = { "x-svc-max-cost-usd": most };
    return { account, response: await api.postTo(path, account, body, { headers }) };
  };

  test("is served if the tokens of its input fit, although the bytes do not", async () => {
    server.queue(reply());
    // On a busy machine a count may be late, and leaves the bytes.
    await eventually("the tokens are counted", async () => {
      const { response } = await send("0.02");
      return response.status === 200 && response.headers.get("x-svc-cost-usd") === "0.01";
    });
  });

  test("is refused once, and asks no server, if the tokens do not fit", async () => {
    const { account, response } = await send("0.005");
    expect(response.status).toBe(402);
    expect((await errorOf(response)).code).toBe("max_cost_exceeded");
    expect(server.requests).toEqual([]);
    expect((await api.journal(account)).map(({ type }) => type)).toEqual(["refused"]);
    expect((await api.view(account)).paid).toBe(usd("5"));
    const remaining = Number(response.headers.get("x-ratelimit-remaining-requests"));
    const limit = Number(response.headers.get("x-ratelimit-limit-requests"));
    expect(limit - remaining).toBe(1);
  });
});
