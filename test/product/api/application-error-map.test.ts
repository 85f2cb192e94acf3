// Tests every code that the Application API can answer, with a request that provokes it. A new row
// of the table needs one here, or an entry in the codes that this surface never answers; otherwise
// this does not compile.

import { expect, test } from "bun:test";
import { CHAT } from "../../../src/core/access/limits.ts";
import type { UnavailableCode } from "../../../src/core/access/services.ts";
import { ApiError, ERRORS, type ErrorCode } from "../../../src/core/errors.ts";
import { newTimedId, toUuid } from "../../../src/core/ids.ts";
import { ApiWorld, chatBody, completionOf } from "../../support/api/api-world.ts";
import { PAID_ONLY_MODEL } from "../../support/api/models.ts";
import { endUserRefusals } from "../../support/api/provoke-end-users.ts";
import { idempotencyRefusals } from "../../support/api/provoke-idempotency.ts";
import { runRefusals } from "../../support/api/provoke-runs.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { random } from "../../support/random.ts";
import type { AccountTerms, TestAccount } from "../../support/stores/accounts.ts";
import { act } from "../../support/stores/burn-lab.ts";

/** Each plan includes all of this surface, and no key can open as many streams as the limit. */
type NeverAnswered =
  | "tier_required"
  | "too_many_streams"
  // The codes of services that only the Gateway has.
  | Exclude<UnavailableCode, "model_unavailable">
  | "batch_too_large"
  | "invalid_action"
  | "idempotency_key_reused"
  | "origin_not_allowed"
  | "unsupported_field"
  | "too_many_recipients"
  | "mail_rejected"
  | "mail_rate_limit"
  | "mail_daily_limit"
  | "message_not_found";

const PATH = "/api/v1/chat/completions";

const api = await sharedApi();

interface Provoked {
  readonly param?: string;
  readonly by: () => Promise<Response>;
}

function toBy<Code extends string>(requests: Record<Code, Provoked["by"]>) {
  const rows = Object.entries<Provoked["by"]>(requests).map(([code, by]) => [code, { by }]);
  return Object.fromEntries(rows) as Record<Code, Provoked>;
}

const post = async (options: AccountTerms, body: object | string, from = api) => {
  const account = await from.account({
    surface: "application",
    plan: "max",
    paid: "9",
    ...options,
  });
  return from.postTo(PATH, account, body);
};
const call = (options: AccountTerms, body: object | string = chatBody()): Provoked => ({
  by: () => post(options, body),
});
const failing = (error: Error): Provoked => ({
  by: () => {
    api.chat.reply = () => Promise.reject(error);
    return post({}, chatBody());
  },
});

const provoke = {
  not_found: { by: () => api.get("/api/v1/nothing") },
  method_not_allowed: { by: () => fetch(api.parts.url + PATH) },
  missing_api_key: { by: () => api.postTo(PATH, null, chatBody()) },
  invalid_api_key: { by: () => api.get("/api/v1/models", { key: "svc_sk_wrong" }) },
  payment_required: call({ reversed: "2000" }),
  account_inactive: call({ state: "suspended" }),
  ip_not_allowed: call({ ip: ["192.0.2.0/24"] }),
  insufficient_scope: call({ scopes: [] }),
  rate_limit_exceeded: { by: askElevenTimesOnFree },
  body_too_large: call({}, "x".repeat(CHAT.bodyBytesMax + 1)),
  invalid_json: call({}, "{"),
  messages_required: { ...call({}, {}), param: "messages" },
  invalid_parameter: { ...call({}, chatBody({ top_p: 2 })), param: "top_p" },
  context_length_exceeded: {
    ...failing(new ApiError("context_length_exceeded", "No room", { param: "messages" })),
    param: "messages",
  },
  model_not_found: { ...call({}, chatBody({ model: "nope" })), param: "model" },
  model_not_allowed: { ...call({ models: ["other-*"] }), param: "model" },
  model_unavailable: {
    by: () => {
      api.paused.add("chat");
      return post({}, chatBody({ model: "auto" }));
    },
  },
  max_cost_exceeded: {
    by: async () => {
      const headers = { "x-svc-max-cost-usd": "0.000000001" };
      const account = await api.account({ surface: "application", plan: "max", paid: "9" });
      return api.postTo(PATH, account, chatBody(), { headers });
    },
  },
  key_paused: {
    by: async () => {
      const account = await api.account({ surface: "application", plan: "max", paid: "9" });
      await act(api.parts.stores, account);
      return api.postTo(PATH, account, chatBody());
    },
  },
  ...toBy(
    idempotencyRefusals(api, {
      path: PATH,
      open: () => api.account({ surface: "application", plan: "max", paid: "9" }),
    }),
  ),
  ...toBy(
    endUserRefusals(api, {
      path: PATH,
      open: () => api.account({ surface: "application", plan: "max", paid: "9" }),
    }),
  ),
  ...toBy(
    runRefusals(api, {
      path: PATH,
      open: () => api.account({ surface: "application", plan: "max", paid: "9" }),
    }),
  ),
  run_not_found: {
    by: async () => {
      const account = await api.account({ surface: "application", plan: "max", paid: "9" });
      return api.get("/api/v1/runs/none", account);
    },
  },
  receipt_not_found: { by: () => receiptOf(async () => "req_1") },
  receipt_pending: { by: () => receiptOf(async () => newTimedId("request", random, Date.now())) },
  receipt_gone: {
    by: () =>
      receiptOf(async (account) => {
        const { svc } = await completionOf(await api.postTo(PATH, account, chatBody()));
        await api.parts.stores.flush();
        const { sql } = api.parts.stores.database;
        await sql`DELETE FROM request_log WHERE request = ${toUuid(svc.request_id)}`;
        return svc.request_id;
      }),
  },
  key_budget_exceeded: call({ monthlyLimit: "0.000001" }),
  monthly_limit_reached: call({ ownCap: "0.000001" }),
  account_budget_exceeded: call({ budgets: { total: "0.000001" } }),
  insufficient_credits: call({ paid: "0.000001" }),
  upstream_unreachable: failing(new ApiError("upstream_unreachable", "No route answered")),
  service_unavailable: { by: askWithoutKeyDirectory },
  internal_error: failing(new Error("A mistake of ours")),
} satisfies Record<Exclude<ErrorCode, NeverAnswered>, Provoked>;

for (const [code, { by, param = null }] of Object.entries(provoke as Record<string, Provoked>)) {
  test(`${code} is the answer to its request, in the shape of OpenAI`, async () => {
    const response = await by();
    const row = ERRORS[code as ErrorCode];
    expect(response.status).toBe(row.status);
    expect(await response.json()).toEqual({
      error: { message: expect.any(String), type: row.type, code, param },
    });
    expect(response.headers.get("x-svc-cost-usd")).toBe("0");
    expect(response.headers.get("x-ratelimit-limit-requests")).toMatch(/^\d+$/);
    expect(response.headers.get("x-request-id")).toMatch(/^req_\w{22}$/);
  });
}

test("a parameter inside a message is named by its path", async () => {
  const body = chatBody({ messages: [{ role: "user", content: [{ type: "video" }] }] });
  const response = await post({}, body);
  const { error } = (await response.json()) as { error: { param: string } };
  expect(error.param).toBe("messages[0].content[0].type");
});

test("a Free plan's allowance pays no model that free credit does not pay", async () => {
  const account = await api.account({ surface: "application" });
  const response = await api.postTo(PATH, account, chatBody({ model: PAID_ONLY_MODEL.id }));
  expect(response.status).toBe(402);
});

/** Asks for the receipt of a request that is made like this. */
async function receiptOf(request: (account: TestAccount) => Promise<string>): Promise<Response> {
  const account = await api.account({ surface: "application", plan: "max", paid: "9" });
  return api.get(`/api/v1/receipts/${await request(account)}`, account);
}

async function askElevenTimesOnFree(): Promise<Response> {
  const account = await api.account({ surface: "application" });
  const calls = Array.from({ length: 11 }, () => api.get("/api/v1/models", account));
  const answers = await Promise.all(calls);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
  return answers.find(({ status }) => status !== 200) ?? new Response();
}

async function askWithoutKeyDirectory(): Promise<Response> {
  const find = () => Promise.reject(new ApiError("service_unavailable", "No store answers"));
  await using other = await ApiWorld.start({
    keys: { known: () => undefined, find, forget: () => {} },
  });
  const response = await post({}, chatBody(), other);
  return new Response(await response.text(), response);
}
