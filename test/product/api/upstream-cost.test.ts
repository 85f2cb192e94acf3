// Tests that a call's outcome has the operator's cost, by the buying price of the route that served
// it; without a price it has none.

import { expect, test } from "bun:test";
import { price, usd } from "../../../src/core/money/money.ts";
import { bandPrices } from "../../../src/services/chat/models/catalogue.ts";
import { type Catalogue, catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { chatOver, modelOf, providerAt } from "../../support/api/chat-routes.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { startFakeUpstream } from "../../support/fakes/fake-upstream.ts";
import { replyOf } from "../../support/fakes/scripted-search.ts";
import { shared } from "../../support/shared.ts";
import { type AccountTerms, daysAgo, type TestAccount } from "../../support/stores/accounts.ts";

const PAYING: AccountTerms = {
  scopes: ["models", "search", "maps"],
  paid: "100",
  paidAt: daysAgo(10),
};
const BUYING = bandPrices(
  { input: "0.5", output: "1.5", cachedInput: "0.1", promptTokensMax: 100 },
  { input: "5", output: "15" },
);

const upstream = await shared(startFakeUpstream());
const catalogue: Catalogue = catalogueOf(
  [
    // The first route does not answer: the price of the serving route counts.
    {
      ...modelOf(["x", "x"]),
      id: "priced",
      routes: [
        { provider: "down", model: "503", buying: bandPrices({ input: "9", output: "9" }) },
        { provider: "main", model: "ok", buying: BUYING },
      ],
    },
    { ...modelOf(["x", "x"]), id: "unpriced", routes: [{ provider: "main", model: "ok" }] },
    {
      ...modelOf(["x", "x"]),
      id: "breaks",
      routes: [{ provider: "main", model: "reset-mid-stream", buying: BUYING }],
    },
  ],
  [providerAt(upstream.baseUrl, { name: "main" }), providerAt(upstream.baseUrl, { name: "down" })],
);
const api = await sharedApi({
  catalogue: () => catalogue,
  chat: chatOver(catalogue),
});

async function outcomeOf(account: TestAccount) {
  return (await api.journal(account)).at(-1)?.end ?? null;
}

for (const stream of [false, true]) {
  const how = stream ? "a stream" : "a reply";
  test(`${how} costs its tokens at the price of the route that served it`, async () => {
    const account = await api.account(PAYING);
    const response = await api.post(account, chatBody({ model: "priced", stream }));
    expect(await response.text()).not.toMatch(/buying|upstream/);
    const end = await outcomeOf(account);
    const { promptTokens: input = 0, completionTokens: output = 0 } = end ?? {};
    expect([input > 0, output > 0, end?.lane]).toEqual([true, true, "main"]);
    expect(end?.upstreamCost).toBe(BigInt(input * 500 + output * 1_500) as never);
  });

  test(`${how} of a route without a price has no cost`, async () => {
    const account = await api.account(PAYING);
    await (await api.post(account, chatBody({ model: "unpriced", stream }))).text();
    expect(await outcomeOf(account)).toMatchObject({ lane: "main" });
    expect((await outcomeOf(account))?.upstreamCost).toBeUndefined();
  });
}

test("a stream that broke off has the cost of its charged tokens", async () => {
  const account = await api.account(PAYING);
  await (await api.post(account, chatBody({ model: "breaks", stream: true }))).text();
  const end = await outcomeOf(account);
  const { promptTokens: input = 0, completionTokens: output = 0 } = end ?? {};
  expect(output).toBeGreaterThan(0);
  expect(end?.upstreamCost).toBe(BigInt(input * 500 + output * 1_500) as never);
});

test("each query has its price; one without a price makes its batch unknown", async () => {
  const account = await api.account(PAYING);
  const buying = price("5", 1_000);
  const post = (path: string, body: object) => api.postTo(path, account, body);
  api.search.reply = async () => ({ ...replyOf(3), buying });
  await post("/v1/search", { query: "a", max_results: 3 });
  expect((await outcomeOf(account))?.upstreamCost).toBe(usd("0.005"));
  await post("/v1/search/batch", [{ query: "a" }, { query: "b" }]);
  expect((await outcomeOf(account))?.upstreamCost).toBe(usd("0.01"));
  api.search.reply = async ({ query }) => (query === "a" ? { ...replyOf(3), buying } : replyOf(3));
  await post("/v1/search/batch", [{ query: "a" }, { query: "b" }]);
  expect((await outcomeOf(account))?.upstreamCost).toBeUndefined();
});

test("a maps call costs the price of its server", async () => {
  const account = await api.account(PAYING);
  api.maps.buying = price("0.25", 1_000);
  await api.get("/v1/maps?action=geocode&query=Bern", account);
  expect((await outcomeOf(account))?.upstreamCost).toBe(usd("0.00025"));
  api.maps.buying = undefined;
  await api.get("/v1/maps?action=geocode&query=Bern", account);
  expect((await outcomeOf(account))?.upstreamCost).toBeUndefined();
});
