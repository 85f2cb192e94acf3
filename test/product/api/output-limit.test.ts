// Tests that a request without max_tokens works with any context of the model: 4096 is the default,
// unless the rest of the context is smaller.

import { describe, expect, test } from "bun:test";
import { type NanoUsd, usd } from "../../../src/core/money/money.ts";
import { bandPrices, type ModelEntry } from "../../../src/services/chat/models/catalogue.ts";
import { countTokens } from "../../../src/services/chat/tokens/tokens.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { ApiWorld, chatBody, costOf, errorOf } from "../../support/api/api-world.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { wholeReply } from "../../support/fakes/scripted-chat.ts";

const CONTEXT = 4096;
const SMALL: ModelEntry = { ...MODEL, id: "small", contextTokens: CONTEXT };

const catalogue = catalogueOf([MODEL, SMALL], []);
const api = await sharedApi({ catalogue: () => catalogue });

const words = (count: number) => [{ role: "user", content: "word ".repeat(count) }];
const limitAsked = () => api.chat.requests[0]?.maxTokens ?? 0;

describe("without max_tokens the upstream gets", () => {
  for (const stream of [false, true]) {
    test(`the rest of its context after the prompt${stream ? ", streamed" : ""}`, async () => {
      const account = await api.account({ paid: "1" });
      for (const count of [1, 1_000, 3_000, 3_900]) {
        api.chat.requests.length = 0;
        const body = chatBody({ model: SMALL.id, messages: words(count), stream });
        const response = await api.post(account, body);
        expect(response.status).toBe(200);
        await response.text();
        const left = CONTEXT - countTokens("word ".repeat(count));
        expect(limitAsked()).toBeLessThan(left);
        expect(limitAsked()).toBeGreaterThan(left / 2 - 10);
      }
    });
  }

  test("4096 if the context has as many left", async () => {
    const account = await api.account({ paid: "1" });
    await api.post(account, chatBody({ messages: words(3_000) }));
    expect(limitAsked()).toBe(4096);
  });

  test("4096 of a prompt that is too long to be counted first", async () => {
    const account = await api.account({ paid: "5" });
    await api.post(account, chatBody({ messages: words(120_000) }));
    expect(limitAsked()).toBe(4096);
  });

  test("no more than the hold, for an ample and for a short balance", async () => {
    for (const paid of ["5", "0.0095"]) {
      const account = await api.account({ paid });
      let held: NanoUsd | null = null;
      api.chat.requests.length = 0;
      api.chat.reply = async () => {
        held = (await api.view(account)).heldPaid;
        return wholeReply("Hello");
      };
      const body = chatBody({ model: SMALL.id, messages: words(1_000) });
      expect((await api.post(account, body)).status).toBe(200);
      expect(Number(held)).toBeGreaterThanOrEqual(Number(costOf(1_000, limitAsked())));
      expect(limitAsked()).toBeGreaterThan(2_000);
    }
  });
});

test("max_tokens of the caller is sent unchanged", async () => {
  const account = await api.account({ paid: "1" });
  await api.post(account, chatBody({ model: SMALL.id, max_tokens: 4096 }));
  expect(limitAsked()).toBe(4096);
});

test("a prompt that fills the context is refused, counted and charged nothing", async () => {
  const account = await api.account({ paid: "1" });
  const response = await api.post(account, chatBody({ model: SMALL.id, messages: words(5_000) }));
  expect(response.status).toBe(400);
  expect(await errorOf(response)).toMatchObject({
    code: "context_length_exceeded",
    message:
      "messages leave no room for a reply of 'small': this model's maximum context length is " +
      "4096 tokens",
  });
  expect(api.chat.requests).toEqual([]);
  expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("19");
  const view = await api.view(account);
  expect([view.paid, view.heldPaid]).toEqual([usd("1"), usd("0")]);
  expect((await api.journal(account)).at(-1)?.end).toMatchObject({ status: 400 });
});

test("auto takes the model that the rest of a run pays for", async () => {
  const prices = bandPrices({ input: "10", output: "20", cachedInput: "1" });
  const catalogue = catalogueOf([{ ...MODEL, id: "dear", prices }, MODEL], []);
  await using other = await ApiWorld.start({ catalogue: () => catalogue });
  const account = await other.account({ surface: "application", paid: "5" });
  const body = { messages: words(1), max_tokens: 4096 };
  const headers = { "x-svc-run": "one; max-usd=0.05" };
  const response = await other.postTo("/api/v1/chat/completions", account, body, { headers });
  expect(response.status).toBe(200);
  // The dear one would hold $0.08.
  expect(await response.json()).toMatchObject({ model: MODEL.id });
});

test("auto takes a model with a short context if there is no other", async () => {
  const catalogue = catalogueOf([SMALL], []);
  await using other = await ApiWorld.start({ catalogue: () => catalogue });
  const account = await other.account({ surface: "application", paid: "1" });
  const ask = (fields: object) =>
    other.postTo("/api/v1/chat/completions", account, { messages: words(1_000), ...fields });
  expect((await ask({})).status).toBe(200);
  expect(other.chat.requests[0]?.maxTokens).toBeLessThan(3_100);
  // A caller who asks for this many learns that they fit no model.
  expect((await ask({ max_tokens: 4096 })).status).toBe(400);
});
