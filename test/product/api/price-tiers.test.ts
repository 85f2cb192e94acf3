// Calls in the tiers of a provider: the tier that the provider answers decides the price, within
// the hold, and a tier without a price is refused.

import { beforeEach, expect, test } from "bun:test";
import { pricesOf } from "../../../src/core/money/call-cost.ts";
import { price, usd } from "../../../src/core/money/money.ts";
import type { RowPrices } from "../../../src/core/money/price-rows.ts";
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

const provider = { answers: "default", asked: [] as unknown[] };
/** Ten tokens of a prompt and one of a reply, in the tier that the test wants. */
const server = sharedServer(async (request) => {
  const { service_tier, stream } = (await request.json()) as Record<string, unknown>;
  provider.asked.push(service_tier);
  const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };
  const end = { service_tier: provider.answers, usage };
  const said = { role: "assistant", content: "Hi" };
  const choice = { index: 0, finish_reason: "stop" };
  if (stream !== true) return Response.json({ choices: [{ ...choice, message: said }], ...end });
  const frames = [{ choices: [{ ...choice, delta: said }] }, { choices: [], ...end }];
  const text = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("");
  return new Response(`${text}data: [DONE]\n\n`, {
    headers: { "content-type": "text/event-stream" },
  });
});

const model = modelOf(["main", "x"]);
const catalogue = catalogueOf(
  [
    { ...model, id: "tiered", prices: pricesOf(ROWS) },
    { ...model, id: "standard-only", prices: pricesOf([STANDARD]) },
  ],
  [providerAt(String(server.url).replace(/\/$/, ""), { name: "main" })],
);
const api = await sharedApi({ catalogue: () => catalogue, chat: chatOver(catalogue) });

beforeEach(() => {
  provider.asked.length = 0;
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
