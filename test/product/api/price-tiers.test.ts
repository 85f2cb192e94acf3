// Calls in the tiers of a provider: the tier that the provider answers decides the price, within
// the hold, and a tier without a price is refused.

import { beforeEach, expect, test } from "bun:test";
import { pricesOf } from "../../../src/core/money/call-cost.ts";
import { price, usd } from "../../../src/core/money/money.ts";
import type { RowPrices } from "../../../src/core/money/price-rows.ts";
import { PROVIDER_PRESETS } from "../../../src/services/chat/models/provider-presets.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { chatOver, modelOf, providerAt } from "../../support/api/chat-routes.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { sharedServer } from "../../support/shared.ts";
import { type AccountTerms, daysAgo } from "../../support/stores/accounts.ts";

const PAYING: AccountTerms = { scopes: ["models"], paid: "100", paidAt: daysAgo(10) };

const rowOf = (input: string, output: string, when?: RowPrices["when"]): RowPrices => ({
  input: price(input, 1_000_000),
  output: price(output, 1_000_000),
  cachedInput: null,
  ...(when !== undefined && { when }),
});
const STANDARD = rowOf("4", "8");
const ROWS = [STANDARD, rowOf("2", "4", { tier: "flex" }), rowOf("8", "16", { tier: "priority" })];

const provider = { answers: "default", hasUsage: true, asked: [] as unknown[] };
/** Ten tokens of a prompt and one of a reply, in the tier that the test wants. */
const server = sharedServer(async (request) => {
  const { service_tier, stream } = (await request.json()) as Record<string, unknown>;
  provider.asked.push(service_tier);
  const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };
  const end = provider.hasUsage ? { service_tier: provider.answers, usage } : {};
  const said = { role: "assistant", content: "Hi" };
  const choice = { index: 0, finish_reason: "stop" };
  if (stream !== true) return Response.json({ choices: [{ ...choice, message: said }], ...end });
  const frames = [{ choices: [{ ...choice, delta: said }] }, { choices: [], ...end }];
  const text = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("");
  return new Response(`${text}data: [DONE]\n\n`, {
    headers: { "content-type": "text/event-stream" },
  });
});

const ADDRESS = String(server.url).replace(/\/$/, "");
const model = modelOf(["main", "x"]);
const catalogue = catalogueOf(
  [
    { ...model, id: "tiered", prices: pricesOf(ROWS) },
    { ...modelOf(["untiered", "x"]), id: "tiered-unsent", prices: pricesOf(ROWS) },
    { ...model, id: "standard-only", prices: pricesOf([STANDARD]) },
    { ...modelOf(["azure", "x"]), id: "azure-tiered", prices: pricesOf(ROWS) },
    { ...modelOf(["azure", "x"]), id: "azure-flex", prices: pricesOf(ROWS.slice(0, 2)) },
    { ...modelOf(["azure", "x"]), id: "azure-plain", prices: pricesOf([STANDARD]) },
  ],
  [
    providerAt(ADDRESS, { name: "main" }),
    providerAt(ADDRESS, { name: "untiered", quirks: PROVIDER_PRESETS.mistral.quirks }),
    providerAt(ADDRESS, { name: "azure", quirks: PROVIDER_PRESETS.azure.quirks }),
  ],
);
const api = await sharedApi({ catalogue: () => catalogue, chat: chatOver(catalogue) });

beforeEach(() => {
  provider.asked.length = 0;
  provider.hasUsage = true;
});

const TABLE: readonly [asked: string | undefined, answered: string, cost: bigint][] = [
  [undefined, "default", 48_000n],
  ["default", "default", 48_000n],
  ["flex", "flex", 24_000n],
  ["flex", "default", 48_000n],
  ["priority", "priority", 96_000n],
  ["priority", "default", 48_000n],
  // An unknown tier costs as much as the most expensive row, at most the hold.
  [undefined, "turbo", 96_000n],
];

for (const stream of [false, true]) {
  for (const [asked, answered, cost] of TABLE) {
    const how = `${stream ? "a stream" : "a reply"} asked for ${asked ?? "no tier"}`;
    test(`${how} and served as ${answered} costs ${cost} nano-USD`, async () => {
      const account = await api.account(PAYING);
      provider.answers = answered;
      const body = chatBody({ model: "tiered", stream, service_tier: asked });
      const response = await api.post(account, body);
      expect(response.status).toBe(200);
      await response.text();
      expect(provider.asked).toEqual([asked === "default" ? undefined : asked]);
      const { paid } = await api.view(account);
      expect(usd("100") - paid).toBe(cost);
    });
  }
}

test.each([
  ["azure-tiered", "default"],
  // Flex is not sold there, so nothing shows that the server knows the field.
  ["azure-flex", undefined],
  ["azure-plain", undefined],
] as const)("Azure gets the standard tier of %s as %s, whole and streamed", async (id, named) => {
  const account = await api.account(PAYING);
  provider.answers = "default";
  for (const stream of [false, true]) {
    for (const service_tier of [undefined, "auto", "default"]) {
      const response = await api.post(account, chatBody({ model: id, stream, service_tier }));
      expect(response.status).toBe(200);
      await response.text();
    }
  }
  expect(provider.asked).toEqual(Array.from({ length: 6 }, () => named));
  expect(usd("100") - (await api.view(account)).paid).toBe(6n * 48_000n);
});

test.each(["flex", "priority"])(
  "the tier %s, which a model has no price for, is refused",
  async (tier) => {
    const account = await api.account(PAYING);
    const body = chatBody({ model: "standard-only", service_tier: tier });
    const response = await api.post(account, body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("service_tier");
    expect(response.headers.get("x-svc-cost-usd")).toBe("0");
    expect(provider.asked).toEqual([]);
  },
);

test.each(["a reply", "a stream"])(
  "a tier that the server was never sent is not charged by our own count of %s",
  async (how) => {
    provider.hasUsage = false;
    const stream = how === "a stream";
    const spent = async (tier?: string) => {
      const account = await api.account(PAYING);
      const body = chatBody({ model: "tiered-unsent", stream, service_tier: tier });
      const response = await api.post(account, body);
      expect(await response.text()).toContain(tier === undefined ? "svc" : "service_tier");
      return usd("100") - (await api.view(account)).paid;
    };
    const standard = await spent();
    expect(standard).toBeGreaterThan(0n);
    expect([await spent("priority"), await spent("flex")]).toEqual([standard, standard]);
    expect(provider.asked).toEqual([undefined, undefined, undefined]);
  },
);

test.each(["a reply", "a stream"])("%s that we counted is logged with its tier", async (how) => {
  provider.hasUsage = false;
  const stream = how === "a stream";
  const account = await api.account(PAYING);
  const body = chatBody({ model: "tiered", stream, service_tier: "priority" });
  await (await api.post(account, body)).text();
  const [entry] = await api.journal(account);
  expect(entry?.end?.usageDetails).toMatchObject({ tier: "priority", source: "counted" });
});
