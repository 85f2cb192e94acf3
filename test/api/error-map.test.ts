// Every code of the error table with a request that provokes it. A row without one does not
// compile.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { ApiError, ERRORS, type ErrorCode } from "../../src/core/errors.ts";
import { CHAT } from "../../src/core/limits.ts";
import { ZERO } from "../../src/core/money.ts";
import { errorResponse } from "../../src/http/respond.ts";
import { ask } from "../support/world.ts";
import { type AccountOptions, chatBody, Harness } from "./harness.ts";
import { silence, textBatch, wholeReply } from "./scripted-chat.ts";

let api: Harness;
beforeAll(async () => {
  api = await Harness.start();
});
afterAll(() => api[Symbol.asyncDispose]());
beforeEach(async () => {
  api.paused.clear();
  api.chat.reply = async () => wholeReply("Hello");
  await api.forgetAnonymous();
});

type Provoke = () => Promise<Response>;

const call =
  (options: AccountOptions, body: object | string = chatBody()): Provoke =>
  async () =>
    api.post(await api.account(options), body);

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
  payment_required: call({ state: "suspended", stateReason: "payment_owed" }),
  account_inactive: call({ state: "suspended" }),
  ip_not_allowed: call({ ip: ["192.0.2.0/24"] }),
  insufficient_scope: call({ scopes: ["search"] }),
  tier_required: askForSearchOnFree,
  rate_limit_exceeded: async () => {
    const account = await api.account();
    const answers = await Promise.all(Array.from({ length: 21 }, () => api.get("/v1/me", account)));
    return answers.find(({ status }) => status !== 200) ?? answers[0] ?? new Response();
  },
  body_too_large: call({}, "x".repeat(CHAT.bodyBytesMax + 1)),
  invalid_json: call({}, "{"),
  messages_required: call({}, {}),
  invalid_parameter: call({}, chatBody({ temperature: 3 })),
  model_not_found: call({}, chatBody({ model: "nope" })),
  model_unavailable: async () => {
    api.paused.add("chat");
    return api.post(await api.account(), chatBody());
  },
  key_budget_exceeded: call({ monthlyLimit: "0.000001" }),
  monthly_limit_reached: call({ ownCap: "0.000001" }),
  insufficient_credits: call({ free: "0.000001" }),
  too_many_streams: openThreeStreamsOnFree,
  upstream_unreachable: failing(new ApiError("upstream_unreachable", "No route answered")),
  service_unavailable: askWithoutKeyDirectory,
  internal_error: failing(new Error("A mistake of ours")),
} satisfies Record<ErrorCode, Provoke>;

for (const [code, request] of Object.entries(provoke)) {
  test(`${code} is what its request is told, with its status and type`, async () => {
    const response = await request();
    const row = ERRORS[code as ErrorCode];
    expect(response.status).toBe(row.status);
    expect(await response.json()).toEqual({
      error: { type: row.type, code, message: expect.any(String) },
    });
    expect(response.headers.get("x-svc-cost-usd")).toBe("0");
  });
}

// No endpoint that a tier lacks is served yet, so the account is asked itself.
async function askForSearchOnFree(): Promise<Response> {
  const { id, bucket, keyId } = await api.account({ scopes: ["search"] });
  const account = api.parts.stores.actors.of(id, bucket);
  const admission = await account.admit(ask(keyId, ZERO, { scope: "search" }));
  if (admission.verdict !== "refused") throw new Error(admission.verdict);
  const facts = { requestId: "req_test", rate: admission.rate };
  return errorResponse(admission.error, facts, "gateway");
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
  await using other = await Harness.start({ keys: { find } });
  const response = await other.post(await other.account(), chatBody());
  return new Response(await response.text(), response);
}
