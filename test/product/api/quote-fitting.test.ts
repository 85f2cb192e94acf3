// Tests that the output limit of a quote is the highest one: a call with that limit is served, and
// a call with one token more is not, whatever binds.

import { afterEach, describe, expect, test } from "bun:test";
import { ApiError } from "../../../src/core/errors.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody, errorOf } from "../../support/api/api-world.ts";
import { MODEL, PAID_ONLY_MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { USAGE } from "../../support/fakes/scripted-chat.ts";
import type { AccountTerms, TestAccount } from "../../support/stores/accounts.ts";

const CHAT = "/v1/chat/completions";
const SHORT_REPLIES = { ...MODEL, id: "short-replies", maxOutputTokens: 700 };
const SHORT_CONTEXT = { ...MODEL, id: "short-context", contextTokens: 1_000 };
const WIDE = { ...MODEL, id: "wide", chatLimits: { maxTokensMax: 50_000 } };
const catalogue = catalogueOf([MODEL, PAID_ONLY_MODEL, SHORT_REPLIES, SHORT_CONTEXT, WIDE], []);
const api = await sharedApi({ catalogue: () => catalogue });
afterEach(() => api.reset());

/** A prompt with far fewer tokens than bytes. */
const messages = [{ role: "user", content: "prepaid gateway ".repeat(40) }];
const bodyWith = (tokens: number, more: object = {}) =>
  chatBody({ messages, max_tokens: tokens, ...more });

type Headers = Readonly<Record<string, string>>;

async function fitting(
  account: TestAccount,
  body: object,
  { headers = {}, path = CHAT }: { readonly headers?: Headers; readonly path?: string } = {},
): Promise<number> {
  const response = await api.postTo("/v1/quote", account, { path, body }, { headers });
  expect(response.status).toBe(200);
  const quote = (await response.json()) as { readonly max_tokens_affordable: number };
  return quote.max_tokens_affordable;
}

interface Bound {
  readonly terms: AccountTerms;
  readonly headers?: Headers;
  readonly code: string;
}

const BOUNDS: Readonly<Record<string, Bound>> = {
  "the balance": { terms: { free: "0.002" }, code: "insufficient_credits" },
  "the month of the key": {
    terms: { paid: "5", monthlyLimit: "0.002" },
    code: "key_budget_exceeded",
  },
  "a budget of the key": {
    terms: { paid: "5", keyBudgets: { day: "0.002" } },
    code: "key_budget_exceeded",
  },
  "a budget of the account": {
    terms: { paid: "5", budgets: { week: "0.002" } },
    code: "account_budget_exceeded",
  },
  "the account's own cap": {
    terms: { paid: "5", ownCap: "0.002" },
    code: "monthly_limit_reached",
  },
  "a run": {
    terms: { paid: "5" },
    headers: { "x-svc-run": "nightly; max-usd=0.002" },
    code: "run_budget_exceeded",
  },
  "the tokens of the key's minute": {
    terms: { paid: "5", tokensPerMinute: 1_500 },
    code: "rate_limit_exceeded",
  },
  "the tokens of the key's day": {
    terms: { paid: "5", tokensPerDay: 1_500 },
    code: "rate_limit_exceeded",
  },
  "the lower of the key's minute and day": {
    terms: { paid: "5", tokensPerDay: 1_500, tokensPerMinute: 2_000 },
    code: "rate_limit_exceeded",
  },
};

describe("the output limit of a quote", () => {
  for (const [bound, { terms, headers = {}, code }] of Object.entries(BOUNDS)) {
    test(`is what ${bound} lets pass, and one token more is refused with ${code}`, async () => {
      const account = await api.account(terms);
      // Something is used already.
      const before = bodyWith(10);
      expect((await api.postTo(CHAT, account, before, { headers })).status).toBe(200);
      for (const asked of [5_000, 1]) {
        const most = await fitting(account, bodyWith(asked), { headers });
        expect(most).toBeGreaterThan(100);
        const more = await api.postTo(CHAT, account, bodyWith(most + 1), { headers });
        expect((await errorOf(more)).code).toBe(code);
        if (asked === 1) {
          expect((await api.postTo(CHAT, account, bodyWith(most), { headers })).status).toBe(200);
        }
      }
    });
  }

  test("is what the server of the model takes", async () => {
    const account = await api.account({ paid: "5" });
    const { id: model, maxOutputTokens } = SHORT_REPLIES;
    api.chat.reply = async ({ maxTokens }) => {
      const isTooLong = maxTokens > maxOutputTokens;
      if (isTooLong) throw new ApiError("invalid_parameter", "max_tokens is too large");
      return { choices: [], usage: USAGE };
    };
    expect(await fitting(account, bodyWith(10, { model }))).toBe(maxOutputTokens);
    expect((await api.post(account, bodyWith(maxOutputTokens, { model }))).status).toBe(200);
    expect((await api.post(account, bodyWith(maxOutputTokens + 1, { model }))).status).toBe(400);
  });

  test("is what a request without a limit gets of a short context", async () => {
    const account = await api.account({ paid: "5" });
    const { id: model } = SHORT_CONTEXT;
    const most = await fitting(account, bodyWith(10, { model }));
    expect((await api.post(account, chatBody({ messages, model }))).status).toBe(200);
    const [request] = api.chat.requests;
    expect(most).toBe(request?.maxTokens ?? 0);
    expect(most).toBeLessThan(SHORT_CONTEXT.contextTokens - 80);
  });

  test("is at most what the endpoint takes for the model", async () => {
    const account = await api.account({ paid: "50" });
    for (const [model, most] of [
      [MODEL.id, 32_768],
      [WIDE.id, 50_000],
    ] as const) {
      expect(await fitting(account, bodyWith(10, { model }))).toBe(most);
      expect((await api.post(account, bodyWith(most, { model }))).status).toBe(200);
      expect((await api.post(account, bodyWith(most + 1, { model }))).status).toBe(400);
    }
    const messagesBody = { model: MODEL.id, max_tokens: 10, messages };
    const ofMessages = await fitting(account, messagesBody, { path: "/v1/messages" });
    expect(ofMessages).toBeGreaterThan(100_000);
  });

  test("is what the cap of the call pays for; a higher one is lowered to it", async () => {
    const account = await api.account({ paid: "5" });
    const headers = { "x-svc-max-cost-usd": "0.002" };
    const most = await fitting(account, bodyWith(5_000), { headers });
    for (const asked of [most, most + 1]) {
      expect((await api.postTo(CHAT, account, bodyWith(asked), { headers })).status).toBe(200);
    }
    expect(api.chat.requests.map(({ maxTokens }) => maxTokens)).toEqual([most, most]);
    const few = { "x-svc-max-cost-usd": "0.00016" };
    const fits = await fitting(account, bodyWith(5_000), { headers: few });
    expect(fits).toBeGreaterThan(0);
    expect(fits).toBeLessThan(16);
    const served = await api.postTo(CHAT, account, bodyWith(fits), { headers: few });
    expect(served.status).toBe(200);
    const more = await api.postTo(CHAT, account, bodyWith(fits + 1), { headers: few });
    expect((await errorOf(more)).code).toBe("max_cost_exceeded");
  });

  test("is 0 if no output limit would pass", async () => {
    const scoped = await api.account({ paid: "5", scopes: ["mail"] });
    expect(await fitting(scoped, bodyWith(10))).toBe(0);
    const poor = await api.account({ free: "0.00001" });
    expect(await fitting(poor, bodyWith(10))).toBe(0);
    const free = await api.account({ free: "1" });
    expect(await fitting(free, bodyWith(10, { model: PAID_ONLY_MODEL.id }))).toBe(0);
    const slow = await api.account({ paid: "5", tokensPerMinute: 20 });
    expect(await fitting(slow, bodyWith(1))).toBe(0);
  });
});
