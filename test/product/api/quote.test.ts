// Tests of quotes: each is compared with the call that it quotes, made afterwards.

import { afterEach, describe, expect, test } from "bun:test";
import { pricesOf } from "../../../src/core/money/call-cost.ts";
import { price, usd } from "../../../src/core/money/money.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody, errorOf } from "../../support/api/api-world.ts";
import { MODEL, PAID_ONLY_MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { textBatch } from "../../support/fakes/scripted-chat.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

interface QuoteJson {
  readonly path: string;
  readonly hold_usd: number;
  readonly model: string | null;
  readonly likely: {
    readonly cost_usd: number;
    readonly prompt_tokens?: number;
    readonly completion_tokens?: number;
  };
  readonly prices: readonly { readonly what: string; readonly price_usd: string }[];
  readonly price_version: string;
  readonly would_pass: boolean;
  readonly refusal: { readonly code: string; readonly status: number } | null;
  readonly spendable_usd: number;
  readonly spendable_limit: string;
  readonly spendable_budget: object | null;
  readonly max_tokens_affordable: number | null;
  readonly valid_until: string;
}

const CHAT = "/v1/chat/completions";
const rates = (input: string, output: string) => ({
  input: price(input, 1_000_000),
  output: price(output, 1_000_000),
  cachedInput: null,
});
/** Has a short context, and half the price in the tier "flex". */
const SHORT = {
  ...MODEL,
  id: "short-context",
  contextTokens: 300,
  prices: pricesOf([rates("1", "2"), { ...rates("0.5", "1"), when: { tier: "flex" } }]),
};
const catalogue = catalogueOf([MODEL, PAID_ONLY_MODEL, SHORT], []);
const api = await sharedApi({ catalogue: () => catalogue });
afterEach(() => api.reset());

function ask(account: Pick<TestAccount, "key">, path: string, body: object): Promise<Response> {
  return api.postTo("/v1/quote", account, { path, body });
}

async function quoted(account: TestAccount, path: string, body: object): Promise<QuoteJson> {
  const response = await ask(account, path, body);
  expect(response.status).toBe(200);
  return (await response.json()) as QuoteJson;
}

/** The amounts in the account's wallet. */
async function wallet(account: TestAccount) {
  const { paid, free, heldPaid, heldFree, openCalls } = await api.view(account);
  return { paid, free, heldPaid, heldFree, openCalls };
}

describe("a quote", () => {
  test("has the hold of the call that follows, and changes nothing", async () => {
    const account = await api.account({ paid: "5" });
    const before = await wallet(account);
    const body = chatBody({ max_tokens: 100 });
    const quote = await quoted(account, CHAT, body);
    expect(await wallet(account)).toEqual(before);
    expect(api.chat.requests).toEqual([]);
    let held = 0n;
    api.chat.reply = async () => {
      const [hold] = await api.holdRecords(account);
      held = (hold?.paid ?? 0n) + (hold?.free ?? 0n);
      return { choices: [], usage: { promptTokens: 1, cachedTokens: 0, completionTokens: 1 } };
    };
    await api.post(account, body);
    expect(quote.hold_usd).toBe(Number(held) / 1e9);
    expect(held).toBeGreaterThan(0n);
    expect(quote).toMatchObject({ model: MODEL.id, would_pass: true, refusal: null });
    expect(quote.price_version).toBe(MODEL.prices.version);
  });

  test("counts as one request, and is logged without a cost", async () => {
    const account = await api.account();
    const first = await ask(account, CHAT, chatBody());
    const second = await ask(account, CHAT, chatBody());
    const left = (response: Response) =>
      Number(response.headers.get("x-ratelimit-remaining-requests"));
    expect(left(first) - left(second)).toBe(1);
    expect(second.headers.get("x-svc-cost-usd")).toBe("0");
    const entries = await api.journal(account);
    expect(entries.map(({ metadata, end }) => [metadata?.endpoint, end?.status])).toEqual([
      ["/v1/quote", 200],
      ["/v1/quote", 200],
    ]);
  });

  test("has prices by part, and a likely cost by the counted prompt, below the hold", async () => {
    const account = await api.account({ paid: "5" });
    const quote = await quoted(account, CHAT, chatBody({ max_tokens: 100 }));
    expect(quote.prices.map(({ what, price_usd }) => [what, price_usd])).toEqual([
      ["input tokens", "1"],
      ["cached input tokens", "1"],
      ["output tokens", "2"],
    ]);
    const { cost_usd, prompt_tokens = 0, completion_tokens = 0 } = quote.likely;
    expect(completion_tokens).toBe(100);
    expect(prompt_tokens).toBeGreaterThan(0);
    expect(cost_usd).toBe((prompt_tokens * 1_000 + completion_tokens * 2_000) / 1e9);
    expect(cost_usd).toBeLessThan(quote.hold_usd);
  });

  test("knows the usual length of a reply to the account", async () => {
    const account = await api.account({ paid: "5" });
    const { sql } = api.parts.stores.database;
    await sql`
      INSERT INTO usage_rollups (account, minutes, at, key, service, model, status, calls,
        prompt_tokens, cached_tokens, completion_tokens, cost, free_cost)
      SELECT number, 1440, date_trunc('day', now() - interval '1 day'), 0, 'models',
        ${MODEL.id}, 'ok', 4, 40, 0, 130, 0, 0
      FROM accounts WHERE id = ${account.id}`;
    const body = chatBody({ max_tokens: 100 });
    expect((await quoted(account, CHAT, body)).likely.completion_tokens).toBe(33);
    const short = chatBody({ max_tokens: 10 });
    expect((await quoted(account, CHAT, short)).likely.completion_tokens).toBe(10);
  });

  test("refuses a prompt without room in the context as the call does", async () => {
    const account = await api.account({ paid: "5" });
    const messages = [{ role: "user", content: "prepaid ".repeat(2_000) }];
    const body = chatBody({ model: SHORT.id, messages });
    const quote = await quoted(account, CHAT, body);
    const refusal = await errorOf(await api.post(account, body));
    expect(refusal.code).toBe("context_length_exceeded");
    const { code, message } = refusal;
    expect(quote).toMatchObject({ would_pass: false, refusal: { code, message } });
  });

  test("has a likely cost by the row of the tier that the call asks for", async () => {
    const account = await api.account({ paid: "5" });
    const of = async (more: object) =>
      (await quoted(account, CHAT, chatBody({ model: SHORT.id, max_tokens: 100, ...more }))).likely;
    const standard = await of({});
    expect((await of({ service_tier: "flex" })).cost_usd).toBe(standard.cost_usd / 2);
  });

  test("of a call above its cap would not pass, and has the hold that is too high", async () => {
    const account = await api.account({ contract: "enterprise", paid: "5" });
    const headers = { "x-svc-max-cost-usd": "0.000001" };
    const calls = [
      [CHAT, chatBody({ max_tokens: 100 })],
      ["/v1/search", { query: "trams", max_results: 10 }],
    ] as const;
    for (const [path, body] of calls) {
      const response = await api.postTo("/v1/quote", account, { path, body }, { headers });
      expect(response.status).toBe(200);
      const quote = (await response.json()) as QuoteJson;
      expect(quote).toMatchObject({ would_pass: false, refusal: { code: "max_cost_exceeded" } });
      expect(quote.hold_usd).toBeGreaterThan(0.000001);
    }
  });

  test("is valid until the next hour of UTC", async () => {
    const account = await api.account();
    const { valid_until } = await quoted(account, CHAT, chatBody());
    expect(valid_until).toMatch(/:00:00\.000Z$/);
    const left = Date.parse(valid_until) - Date.now();
    expect(left > 0 && left <= 3_600_000).toBe(true);
  });
});

describe("the binding limit", () => {
  test("is the balance, with the output limit that fits, as the call itself says", async () => {
    const account = await api.account({ free: "0.001" });
    const body = chatBody({ max_tokens: 5_000 });
    const quote = await quoted(account, CHAT, body);
    expect(quote).toMatchObject({
      would_pass: false,
      refusal: { code: "insufficient_credits", status: 402 },
      spendable_usd: 0.001,
    });
    const refusal = await errorOf(await api.post(account, body));
    expect(refusal.message).toContain(`max_tokens of at most ${quote.max_tokens_affordable}`);
    const fitting = chatBody({ max_tokens: quote.max_tokens_affordable });
    expect((await quoted(account, CHAT, fitting)).would_pass).toBe(true);
    expect((await api.post(account, fitting)).status).toBe(200);
  });

  test("is the context, where money would pay for a longer reply", async () => {
    const account = await api.account({ free: "0.001" });
    const body = chatBody({ model: SHORT.id, max_tokens: 5_000 });
    const quote = await quoted(account, CHAT, body);
    const refusal = await errorOf(await api.post(account, body));
    expect(refusal.code).toBe("insufficient_credits");
    expect(quote.max_tokens_affordable).toBeLessThan(SHORT.contextTokens);
    expect(refusal.message).toEndWith(`max_tokens of at most ${quote.max_tokens_affordable}`);
  });

  const spendable: readonly (readonly [of: object, limit: string, usd: number, span?: string])[] = [
    [{ paid: "5" }, "balance", 5],
    [{ paid: "500" }, "tier_cap", 100],
    [{ paid: "20", ownCap: "7" }, "own_cap", 7],
    [{ paid: "20", monthlyLimit: "3" }, "key_budget", 3, "month"],
    [{ paid: "20", keyBudgets: { day: "2" }, budgets: { total: "9" } }, "key_budget", 2, "day"],
    [
      { paid: "20", keyBudgets: { day: "9" }, budgets: { total: "2" } },
      "account_budget",
      2,
      "total",
    ],
    // Of equal limits the first one is named, as /v1/me does.
    [{ paid: "2", budgets: { total: "2" } }, "balance", 2],
  ];
  for (const [terms, limit, amount, span] of spendable) {
    const name = span === undefined ? limit : `${limit} of a ${span}`;
    test(`of a call that passes is ${name}`, async () => {
      const account = await api.account(terms);
      const quote = await quoted(account, CHAT, chatBody({ max_tokens: 10 }));
      expect(quote).toMatchObject({
        would_pass: true,
        spendable_usd: amount,
        spendable_limit: limit,
        spendable_budget:
          span === undefined
            ? null
            : { span, left_usd: amount, renews_at: span === "total" ? null : expect.any(String) },
      });
      const { balance } = (await (await api.get("/v1/me", account)).json()) as {
        balance: Pick<QuoteJson, "spendable_limit" | "spendable_budget">;
      };
      expect(balance.spendable_limit).toBe(limit);
    });
  }

  test("of a call that passes can be the budget of its run", async () => {
    const account = await api.account({ paid: "20" });
    const ask = async (headers: Readonly<Record<string, string>>) => {
      const body = { path: CHAT, body: chatBody({ max_tokens: 10 }) };
      const response = await api.postTo("/v1/quote", account, body, { headers });
      return (await response.json()) as QuoteJson;
    };
    const inRun = { "x-svc-run": "nightly; max-usd=0.50" };
    const left = { spendable_limit: "run_budget", spendable_usd: 0.5 };
    expect(await ask(inRun)).toMatchObject({
      ...left,
      spendable_budget: { span: "total", left_usd: 0.5, renews_at: null },
    });
    expect(await ask({})).toMatchObject({ spendable_limit: "balance", spendable_budget: null });
  });

  const binding: readonly (readonly [code: string, terms: object, body: object])[] = [
    ["insufficient_scope", { scopes: ["mail"] }, chatBody()],
    ["key_budget_exceeded", { paid: "5", monthlyLimit: "0.00001" }, chatBody({ max_tokens: 90 })],
    ["monthly_limit_reached", { paid: "5", ownCap: "0.00001" }, chatBody({ max_tokens: 90 })],
    ["insufficient_credits", { free: "1" }, chatBody({ model: PAID_ONLY_MODEL.id })],
  ];
  for (const [code, terms, body] of binding) {
    test(`is ${code}, and the call is refused with the same`, async () => {
      const account = await api.account(terms);
      const quote = await quoted(account, CHAT, body);
      expect(quote.refusal?.code).toBe(code);
      const response = await api.post(account, body);
      expect(quote.refusal?.status).toBe(response.status);
      expect((await errorOf(response)).code).toBe(code);
    });
  }

  test("is the number of open streams", async () => {
    const account = await api.account({ paid: "5" });
    const { promise, resolve } = Promise.withResolvers<void>();
    api.chat.batches = async function* () {
      yield textBatch("Hi");
      await promise;
    };
    const { streams } = (await api.view(account)).tier;
    const open = await Promise.all(
      Array.from({ length: streams }, () => api.post(account, chatBody({ stream: true }))),
    );
    const quote = await quoted(account, CHAT, chatBody({ stream: true }));
    expect(quote.refusal?.code).toBe("too_many_streams");
    expect((await quoted(account, CHAT, chatBody())).would_pass).toBe(true);
    resolve();
    await Promise.all(open.map((response) => response.text()));
  });

  test("is the window once the quote itself has taken its last request", async () => {
    const account = await api.account();
    const { requestsPerMinute } = (await api.view(account)).tier;
    const quotes: QuoteJson[] = [];
    for (let sent = 0; sent < requestsPerMinute; sent++) {
      quotes.push(await quoted(account, CHAT, chatBody()));
    }
    expect(quotes.at(-2)?.would_pass).toBe(true);
    expect(quotes.at(-1)?.refusal).toMatchObject({ code: "rate_limit_exceeded", status: 429 });
    expect((await ask(account, CHAT, chatBody())).status).toBe(429);
  });
});

describe("other services", () => {
  test("a search, a batch and a map are quoted by their fixed prices", async () => {
    const account = await api.account({ contract: "enterprise", paid: "50" });
    const search = await quoted(account, "/v1/search", { query: "trams", max_results: 7 });
    expect([search.prices.map(({ what }) => what), search.max_tokens_affordable]).toEqual([
      ["result"],
      null,
    ]);
    expect(search.likely.cost_usd).toBe(search.hold_usd);
    const queries = [
      { query: "trams", max_results: 7 },
      { query: "buses", max_results: 7 },
    ];
    const batch = await quoted(account, "/v1/search/batch", queries);
    expect(batch.hold_usd).toBe(2 * search.hold_usd);
    const query = { action: "geocode", query: "Oslo" };
    const map = await quoted(account, "/v1/maps", query);
    expect([map.model, map.hold_usd]).toEqual(["geocode", 0.00005]);
    expect([api.search.requests.length, api.maps.asked.length]).toEqual([0, 0]);
  });

  test("a mail is quoted by its recipients, and none is sent", async () => {
    const account = await api.account({ contract: "enterprise", paid: "50" });
    const to = ["a@example.com", "b@example.com"];
    const quote = await quoted(account, "/v1/mail/send", { to, subject: "Hello", text: "Hi" });
    expect([quote.hold_usd, quote.would_pass]).toEqual([0.002, true]);
    const { sql } = api.parts.stores.database;
    const [row] = await sql`
      SELECT count(*)::int AS count FROM mail_messages m JOIN accounts a ON a.number = m.account
      WHERE a.id = ${account.id}`;
    expect(row?.count).toBe(0);
  });
});

describe("calls of the Application API", () => {
  const open = () => api.account({ surface: "application", plan: "max", paid: "9" });

  for (const door of ["/v1/quote", "/api/v1/quote"]) {
    test(`are quoted at ${door}, with the hold of the call that follows`, async () => {
      const account = await open();
      const calls = [
        ["/api/v1/chat/completions", chatBody({ max_tokens: 100 })],
        ["/api/v1/chat/completions", chatBody({ max_tokens: 100, model: "auto" })],
        ["/api/v1/messages", chatBody({ max_tokens: 100 })],
        ["/api/v1/responses", { model: MODEL.id, input: "Hello", max_output_tokens: 100 }],
      ] as const;
      for (const [path, body] of calls) {
        const before = await wallet(account);
        const response = await api.postTo(door, account, { path, body });
        expect(response.status).toBe(200);
        const quote = (await response.json()) as QuoteJson;
        expect(quote).toMatchObject({ path, would_pass: true });
        expect(await wallet(account)).toEqual(before);
        let held = 0n;
        const { reply } = api.chat;
        api.chat.reply = async (...given) => {
          const [hold] = await api.holdRecords(account);
          held = (hold?.paid ?? 0n) + (hold?.free ?? 0n);
          return await reply(...given);
        };
        const call = await api.postTo(path, account, body);
        expect(call.status).toBe(200);
        expect(((await call.json()) as { model: string }).model).toBe(quote.model ?? "");
        api.chat.reply = reply;
        expect(held).toBeGreaterThan(0n);
        expect(quote.hold_usd).toBe(Number(held) / 1e9);
      }
    });
  }

  test("are quoted only with a key of their own, and other paths are named", async () => {
    const application = await open();
    const gateway = await api.account({ paid: "5" });
    const path = "/api/v1/chat/completions";
    const foreign = await errorOf(await ask(gateway, path, chatBody()));
    expect(foreign.message).toContain("must be an endpoint that costs money: /v1/");
    const own = await errorOf(await ask(application, CHAT, chatBody()));
    expect(own.message).toContain("must be an endpoint that costs money: /api/v1/");
    // Each path has the form of errors of its surface, even for a key of the other surface.
    expect(Object.keys(own)).toEqual(["type", "code", "message"]);
    const there = await api.postTo("/api/v1/quote", application, { path: CHAT, body: {} });
    expect(await errorOf(there)).toMatchObject({ param: "path" });
    const closed = await api.postTo("/api/v1/quote", gateway, { path, body: chatBody() });
    expect([closed.status, (await errorOf(closed)).code]).toEqual([401, "invalid_api_key"]);
  });

  test("that would be refused say so as the call does", async () => {
    const account = await open();
    await api.change(account, { ownCap: usd("0.00001") });
    const path = "/api/v1/chat/completions";
    const body = chatBody({ max_tokens: 90 });
    const quote = await quoted(account, path, body);
    expect(quote).toMatchObject({
      would_pass: false,
      refusal: { code: "monthly_limit_reached" },
    });
    expect((await errorOf(await api.postTo(path, account, body))).code).toBe(
      "monthly_limit_reached",
    );
    const bad = await ask(account, path, chatBody({ temperature: 9 }));
    expect([bad.status, (await errorOf(bad)).message.includes("temperature")]).toEqual([400, true]);
  });

  test("that have a wrong header name it, and a wrong field after `body.`", async () => {
    const account = await open();
    const [quotes, path] = ["/api/v1/quote", "/api/v1/chat/completions"];
    for (const name of ["x-svc-max-cost-usd", "x-svc-run", "x-svc-end-user"]) {
      const headers = { [name]: "x".repeat(600) };
      const body = { path, body: chatBody() };
      const refused = await api.postTo(quotes, account, body, { headers });
      expect(await errorOf(refused)).toMatchObject({ code: "invalid_parameter", param: name });
    }
    const body = { path, body: chatBody({ temperature: 9 }) };
    const refused = await api.postTo(quotes, account, body);
    expect(await errorOf(refused)).toMatchObject({ param: "body.temperature" });
  });
});

describe("a request that cannot be quoted", () => {
  test("is refused in the words of the call, and names the field below body", async () => {
    const account = await api.account();
    const response = await ask(account, CHAT, chatBody({ temperature: 9 }));
    expect(response.status).toBe(400);
    const { code, message } = await errorOf(response);
    expect([code, message.includes("temperature")]).toEqual(["invalid_parameter", true]);
    const missing = await errorOf(await ask(account, CHAT, chatBody({ model: "no" })));
    expect(missing.code).toBe("model_not_found");
  });

  test("of an endpoint that costs nothing names those that do", async () => {
    const account = await api.account();
    for (const path of ["/v1/me", "/v1/quote", "/v1/models", "chat", "/v1/mail/messages/{id}"]) {
      const response = await ask(account, path, {});
      expect(response.status).toBe(400);
      expect((await errorOf(response)).message).toStartWith("path must be an endpoint that costs");
    }
  });

  test("without a key, or from an address that the key does not allow, is refused", async () => {
    expect((await ask({ key: "svc_live_none" }, CHAT, chatBody())).status).toBe(401);
    const account = await api.account({ ip: ["192.0.2.1"] });
    expect((await ask(account, CHAT, chatBody())).status).toBe(403);
  });

  test("while its service is paused, is refused as the call is", async () => {
    const account = await api.account();
    api.paused.add("chat");
    const response = await ask(account, CHAT, chatBody());
    expect([response.status, (await errorOf(response)).code]).toEqual([503, "model_unavailable"]);
  });
});
