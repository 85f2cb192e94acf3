// A price row that is configured for another model applies where the provider says that this model
// served: in every form whose replies name a model, whole and streamed, to charge and to buy.

import { beforeEach, describe, expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { parseCatalogue } from "../../../src/settings/catalogue-file.ts";
import { chatOver } from "../../support/api/chat-routes.ts";
import { DOORS, type DoorName } from "../../support/api/doors.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { ALL_FORMS, type WireProvider } from "../../support/fakes/wire/wire-forms.ts";
import { startWireServer } from "../../support/fakes/wire/wire-server.ts";
import { shared } from "../../support/shared.ts";

/** Each provider whose replies name the model, by the doors on which another way leads to it. */
const WAYS: readonly (readonly [provider: WireProvider, door: DoorName])[] = [
  ["openai", "chat"],
  ["openrouter", "chat"],
  ["openai-responses", "chat"],
  ["openai-responses", "responses"],
  ["anthropic", "chat"],
  ["anthropic", "messages"],
  ["google", "chat"],
];
const PROVIDERS = [...new Set(WAYS.map(([provider]) => provider))];
const MODEL_NAMES: Readonly<Partial<Record<WireProvider, string>>> = {
  anthropic: "claude-opus-5",
  google: "gemini-2.5-pro",
};

const row = (usdPerM: number) => ({ input_usd_per_m: usdPerM, output_usd_per_m: 2 * usdPerM });
const rows = (usdPerM: number) => [
  row(usdPerM),
  { ...row(10 * usdPerM), when: { served_model: "m-large" } },
];

const server = await shared(startWireServer());
const catalogue = parseCatalogue(
  JSON.stringify({
    providers: Object.fromEntries(
      PROVIDERS.map((name) => [name, { provider: name, base_url: server.url, api_key_env: "KEY" }]),
    ),
    models: PROVIDERS.map((provider) => ({
      id: provider,
      label: provider,
      family: "fake",
      owned_by: "fake",
      context_length: 100_000,
      prices: rows(2),
      routes: [{ provider, model: MODEL_NAMES[provider] ?? "m-small", buying_prices: rows(1) }],
    })),
  }),
  { KEY: "sk-canary" },
);
const api = await sharedApi({ catalogue: () => catalogue, chat: chatOver(catalogue) });

beforeEach(() => server.reset());

const USAGE = { uncached: 20, cacheRead: 0, cacheWrite: 0, output: 9, reasoning: 0 };

describe.each(WAYS)("%s on the door %s", (provider, doorName) => {
  const door = DOORS[doorName];

  test.each([
    ["m-small", 1],
    ["m-large", 10],
    ["m-large-2026-10-01", 10],
    ["m-larger", 1],
  ])("a call that %s served costs %i times the first row", async (model, times) => {
    for (const stream of [false, true]) {
      const account = await api.account({ contract: "enterprise", paid: "5" });
      const answer = { text: ["Fares are paid."], end: "stop", usage: USAGE, model } as const;
      const form = ALL_FORMS[provider];
      server.queue(stream ? form.stream(answer) : form.whole(answer));
      const body = door.body({ model: provider, prompt: "Hello", stream, maxTokens: 100 });
      const response = await api.postTo(door.path, account, body);
      await response.text();
      const { end } = (await api.journal(account)).at(-1) ?? {};
      const charged = usd("5") - (await api.view(account)).paid;
      const bought = 1_000n * BigInt(times) * (20n + 2n * 9n);
      // OpenRouter says itself what the call cost.
      const isReported = provider === "openrouter";
      expect({ stream, status: response.status, charged, bought: end?.upstreamCost }).toEqual({
        stream,
        status: 200,
        charged: 2n * bought,
        bought: isReported ? usd("0.0001") : bought,
      } as never);
    }
  });
});
