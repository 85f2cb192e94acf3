import { expect, test } from "bun:test";
import { sharedApi } from "../../support/api/shared-api.ts";
import { type AccountTerms, daysAgo } from "../../support/stores/accounts.ts";

const api = await sharedApi();

interface Me {
  readonly tier: { readonly name: string; readonly next: object | null };
  readonly balance: {
    readonly spendable_usd: number;
    readonly spendable_limit: string;
    readonly spendable_budget: object | null;
  };
  readonly month: { readonly resets_at: string };
  readonly key: object;
  readonly budgets: readonly object[];
  readonly services: readonly string[];
}

async function me(options: AccountTerms): Promise<Me> {
  const response = await api.get("/v1/me", await api.account(options));
  expect(response.status).toBe(200);
  return (await response.json()) as Me;
}

test("GET /v1/me shows everything of a new account, and is counted and logged", async () => {
  const account = await api.account({ scopes: ["models"] });
  const response = await api.get("/v1/me", account);
  expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("19");
  const now = new Date();
  const month = now.toISOString().slice(0, 7);
  expect(await response.json()).toEqual({
    id: account.id,
    object: "account",
    state: "active",
    tier: { name: "free", next: { name: "starter", paid_usd_missing: 5, days_left: 0 } },
    balance: {
      paid_usd: 0,
      free_usd: 5,
      free_expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      held_usd: 0,
      spendable_usd: 5,
      spendable_limit: "balance",
      spendable_budget: null,
    },
    month: {
      month,
      spent_usd: 0,
      cap_usd: 5,
      own_cap_usd: null,
      resets_at: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString(),
    },
    limits: {
      requests_per_minute: 20,
      requests_per_day: null,
      tokens_per_minute: null,
      tokens_per_day: null,
      concurrent_streams: 2,
      open_streams: 0,
    },
    services: ["models"],
    key: {
      id: account.keyId,
      name: "test key",
      scopes: ["models"],
      budget_usd: null,
      spent_usd: 0,
      models: null,
      ends_at: null,
    },
    budgets: [],
    svc: { request_id: response.headers.get("x-request-id"), cost_usd: 0 },
  });
  expect(await api.journal(account)).toMatchObject([
    { type: "call", metadata: { endpoint: "/v1/me", service: "account", model: null } },
  ]);
});

test("GET /api/v1/me shows an account of the Application API, its plan as the tier", async () => {
  const account = await api.account({ surface: "application", paid: "20" });
  const response = await api.get("/api/v1/me", account);
  expect([response.status, response.headers.get("x-ratelimit-remaining-requests")]).toEqual([
    200,
    "9",
  ]);
  expect(await response.json()).toMatchObject({
    id: account.id,
    object: "account",
    tier: { name: "free", next: null },
    balance: { paid_usd: 20, free_usd: 1, spendable_usd: 21, spendable_limit: "balance" },
    month: { cap_usd: null, own_cap_usd: null },
    limits: {
      requests_per_minute: 60,
      account_requests_per_minute: 10,
      concurrent_streams: 8,
      open_streams: 0,
    },
    services: ["models"],
    key: { id: account.keyId, scopes: ["models"] },
    svc: { request_id: response.headers.get("x-request-id"), cost_usd: 0 },
  });
  expect(await api.journal(account)).toMatchObject([
    { type: "call", metadata: { endpoint: "/api/v1/me", service: "account", model: null } },
  ]);
});

test("GET /api/v1/me refuses keys of the Gateway, and /v1/me those of applications", async () => {
  const gateway = await api.account();
  const application = await api.account({ surface: "application" });
  for (const [path, account] of [
    ["/api/v1/me", gateway],
    ["/v1/me", application],
  ] as const) {
    const refused = await api.get(path, account);
    expect([path, refused.status]).toEqual([path, 401]);
  }
});

test("GET /v1/me accepts any valid key, whatever its scopes", async () => {
  expect(await me({ scopes: ["mail"] })).toMatchObject({ key: { scopes: ["mail"] } });
});

test("GET /v1/me shows the missing terms of the next tier", async () => {
  const next = async (options: AccountTerms) => (await me(options)).tier;
  expect(await next({ paid: "20" })).toMatchObject({
    name: "starter",
    next: { name: "build", paid_usd_missing: 30, days_left: 7 },
  });
  expect(await next({ paid: "50", paidAt: daysAgo(3.5) })).toMatchObject({
    name: "starter",
    next: { name: "build", paid_usd_missing: 0, days_left: 4 },
  });
  expect(await next({ paid: "1000", paidAt: daysAgo(31) })).toMatchObject({
    name: "pro",
    next: null,
  });
  expect(await next({ contract: "enterprise" })).toMatchObject({ name: "enterprise", next: null });
});

test("GET /v1/me shows the spendable amount, and the limit that decides it", async () => {
  const spendable = async (options: AccountTerms) => (await me(options)).balance;
  expect(await spendable({ paid: "20", free: "1" })).toMatchObject({
    spendable_usd: 21,
    spendable_limit: "balance",
  });
  expect(await spendable({ paid: "500" })).toMatchObject({
    spendable_usd: 100,
    spendable_limit: "tier_cap",
  });
  expect(await spendable({ paid: "20", ownCap: "7" })).toMatchObject({
    spendable_usd: 7,
    spendable_limit: "own_cap",
  });
  expect(await spendable({ paid: "20", ownCap: "7", monthlyLimit: "0.000001" })).toMatchObject({
    spendable_usd: 0.000001,
    spendable_limit: "key_budget",
  });
});

test("GET /v1/me names the span of the budget that binds, what is left, and its end", async () => {
  const { balance, month } = await me({ paid: "20", ownCap: "7", monthlyLimit: "2" });
  const { resets_at: renews_at } = month;
  expect(balance.spendable_budget).toEqual({ span: "month", left_usd: 2, renews_at });
  const other = await me({ paid: "20", monthlyLimit: "2", keyBudgets: { total: "1" } });
  expect(other.balance).toMatchObject({
    spendable_limit: "key_budget",
    spendable_budget: { span: "total", left_usd: 1, renews_at: null },
  });
  expect((await me({ paid: "1", ownCap: "7" })).balance.spendable_budget).toBeNull();
});

test("GET /v1/me lists the budgets that count the key's calls, and which one binds", async () => {
  const terms = { paid: "20", keyBudgets: { day: "3" }, budgets: { "5h": "2", total: "9" } };
  const { balance, budgets } = await me(terms);
  expect(balance).toMatchObject({ spendable_usd: 2, spendable_limit: "account_budget" });
  const none = { spent_usd: 0, held_usd: 0, started_at: null, renews_at: null };
  expect(budgets).toEqual([
    { of: "key", span: "day", amount_usd: 3, left_usd: 3, ...none },
    { of: "account", span: "5h", amount_usd: 2, left_usd: 2, ...none },
    { of: "account", span: "total", amount_usd: 9, left_usd: 9, ...none },
  ]);
});

test("GET /v1/me refuses a suspended account like every other call", async () => {
  const response = await api.get("/v1/me", await api.account({ state: "suspended" }));
  expect(response.status).toBe(403);
});
