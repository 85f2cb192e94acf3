// Tests every code of the error table with a request that provokes it. A row without one does not
// compile.

import { expect, test } from "bun:test";
import { CHAT } from "../../../src/core/access/limits.ts";
import { ApiError, ERRORS, type ErrorCode } from "../../../src/core/errors.ts";
import { newTimedId, toUuid } from "../../../src/core/ids.ts";
import { ApiWorld, chatBody, completionOf } from "../../support/api/api-world.ts";
import { endUserRefusals } from "../../support/api/provoke-end-users.ts";
import { idempotencyRefusals } from "../../support/api/provoke-idempotency.ts";
import { runRefusals } from "../../support/api/provoke-runs.ts";
import { sharedMail } from "../../support/api/shared-api.ts";
import { silence, textBatch } from "../../support/fakes/scripted-chat.ts";
import { random } from "../../support/random.ts";
import { type AccountTerms, daysAgo } from "../../support/stores/accounts.ts";
import { act } from "../../support/stores/burn-lab.ts";
import { mailAccount, mailBody } from "../../support/stores/mail-world.ts";

const world = await sharedMail();
const { api } = world;

const MAPS: AccountTerms = { scopes: ["maps"], paid: "5" };

type Provoke = () => Promise<Response>;

const call =
  (options: AccountTerms, body: object | string = chatBody()): Provoke =>
  async () =>
    api.post(await api.account(options), body);

const search =
  (options: AccountTerms, batch: readonly object[]): Provoke =>
  async () =>
    api.postTo("/v1/search/batch", await api.account(options), batch);
const mailing =
  (fields: object): Provoke =>
  async () =>
    world.send(await mailAccount(api), mailBody(fields));

const failing =
  (error: Error): Provoke =>
  async () => {
    api.chat.reply = () => Promise.reject(error);
    return api.post(await api.account(), chatBody());
  };

const provoke = {
  not_found: () => api.get("/v1/nothing"),
  method_not_allowed: () => fetch(`${api.parts.url}/v1/me`, { method: "DELETE" }),
  missing_api_key: () => api.get("/v1/me"),
  invalid_api_key: () => api.get("/v1/me", { key: "svc_live_wrong" }),
  payment_required: call({ reversed: "2" }),
  account_inactive: call({ state: "suspended" }),
  ip_not_allowed: call({ ip: ["192.0.2.0/24"] }),
  insufficient_scope: call({ scopes: ["search"] }),
  tier_required: search({ scopes: ["search"] }, [{ query: "fares" }]),
  rate_limit_exceeded: async () => {
    const account = await api.account();
    const answers = await Promise.all(Array.from({ length: 21 }, () => api.get("/v1/me", account)));
    return answers.find(({ status }) => status !== 200) ?? answers[0] ?? new Response();
  },
  body_too_large: call({}, "x".repeat(CHAT.bodyBytesMax + 1)),
  invalid_json: call({}, "{"),
  messages_required: call({}, {}),
  batch_too_large: search({ scopes: ["search"], paid: "5" }, Array(11).fill({ query: "fares" })),
  unsupported_field: mailing({ bcc: "b@x.test" }),
  invalid_parameter: call({}, chatBody({ temperature: 3 })),
  invalid_action: async () => api.get("/v1/maps?action=teleport", await api.account(MAPS)),
  too_many_recipients: mailing({ to: Array.from({ length: 11 }, (_, i) => `a${i}@x.test`) }),
  idempotency_key_reused: async () => {
    const account = await mailAccount(api);
    await world.send(account, mailBody(), "one key");
    return world.send(account, mailBody({ subject: "Another" }), "one key");
  },
  origin_not_allowed: async () => {
    const headers = { origin: "http://evil.example.com" };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    return api.postTo("/mcp", await api.account(), message, { headers });
  },
  model_not_found: call({}, chatBody({ model: "nope" })),
  model_not_allowed: call({ models: ["other-*"] }),
  message_not_found: async () => api.get("/v1/mail/messages/msg_1", await mailAccount(api)),
  receipt_not_found: async () => api.get("/v1/receipts/req_1", await api.account()),
  receipt_pending: async () => {
    const id = newTimedId("request", random, Date.now());
    return api.get(`/v1/receipts/${id}`, await api.account());
  },
  receipt_gone: async () => {
    const account = await api.account();
    const { svc } = await completionOf(await api.post(account, chatBody()));
    await api.parts.stores.flush();
    const { sql } = api.parts.stores.database;
    await sql`DELETE FROM request_log WHERE request = ${toUuid(svc.request_id)}`;
    return api.get(`/v1/receipts/${svc.request_id}`, account);
  },
  mail_unavailable: async () => {
    api.paused.add("mail");
    return world.send(await mailAccount(api), mailBody());
  },
  mail_rate_limit: async () => {
    const account = await mailAccount(api);
    for (let sent = 0; sent < 5; sent += 1) await world.send(account, mailBody());
    return world.send(account, mailBody());
  },
  mail_daily_limit: async () => {
    const account = await mailAccount(api, { paid: "500", paidAt: daysAgo(15) });
    const to = Array.from({ length: 50 }, (_, i) => `a${i}@x.test`);
    for (let sent = 0; sent < 1_000; sent += 50) await world.send(account, mailBody({ to }));
    return world.send(account, mailBody());
  },
  model_unavailable: async () => {
    api.paused.add("chat");
    return api.post(await api.account(), chatBody());
  },
  search_unavailable: searchWhilePaused,
  maps_unavailable: async () => {
    api.paused.add("maps");
    return api.get("/v1/maps?action=geocode&query=x", await api.account(MAPS));
  },
  max_cost_exceeded: async () => {
    const headers = { "x-svc-max-cost-usd": "0.000000001" };
    return api.post(await api.account(), chatBody(), { headers });
  },
  key_paused: async () => {
    const account = await api.account({ paid: "5" });
    await act(api.parts.stores, account);
    return api.post(account, chatBody());
  },
  ...endUserRefusals(api, {
    path: "/v1/chat/completions",
    open: () => api.account({ paid: "5" }),
  }),
  ...runRefusals(api, { path: "/v1/chat/completions", open: () => api.account({ paid: "5" }) }),
  run_not_found: async () => api.get("/v1/runs/none", await api.account()),
  ...idempotencyRefusals(api, {
    path: "/v1/chat/completions",
    open: () => api.account({ paid: "5" }),
  }),
  key_budget_exceeded: call({ monthlyLimit: "0.000001" }),
  monthly_limit_reached: call({ ownCap: "0.000001" }),
  account_budget_exceeded: call({ budgets: { day: "0.000001" } }),
  insufficient_credits: call({ free: "0.000001" }),
  too_many_streams: openThreeStreamsOnFree,
  context_length_exceeded: failing(new ApiError("context_length_exceeded", "No room is left")),
  mail_rejected: () => {
    world.smtp.script = { to: () => ({ code: 550 }) };
    return mailing({})();
  },
  upstream_unreachable: failing(new ApiError("upstream_unreachable", "No route answered")),
  service_unavailable: askWithoutKeyDirectory,
  internal_error: failing(new Error("A mistake of ours")),
} satisfies Record<ErrorCode, Provoke>;

for (const [code, request] of Object.entries(provoke)) {
  test(`${code} is the answer to its request, with its status and type`, async () => {
    const response = await request();
    const row = ERRORS[code as ErrorCode];
    expect(response.status).toBe(row.status);
    expect(await response.json()).toEqual({
      error: { type: row.type, code, message: expect.any(String) },
    });
    expect(response.headers.get("x-svc-cost-usd")).toBe("0");
  });
}

async function searchWhilePaused(): Promise<Response> {
  api.paused.add("search");
  return await search({ scopes: ["search"], paid: "5" }, [{ query: "fares" }])();
}

async function openThreeStreamsOnFree(): Promise<Response> {
  const account = await api.account();
  api.chat.batches = async function* (_request, { signal }) {
    yield textBatch("Hello");
    await silence(signal);
  };
  const leave = new AbortController();
  const open = () => api.post(account, chatBody({ stream: true }), { signal: leave.signal });
  await open();
  await open();
  const third = await open();
  const copy = new Response(await third.text(), third);
  leave.abort();
  return copy;
}

async function askWithoutKeyDirectory(): Promise<Response> {
  const find = () => Promise.reject(new ApiError("service_unavailable", "No store answers"));
  await using other = await ApiWorld.start({
    keys: { known: () => undefined, find, forget: () => {} },
  });
  const response = await other.post(await other.account(), chatBody());
  return new Response(await response.text(), response);
}
