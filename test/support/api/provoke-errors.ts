// Provokes each code of the error table at an endpoint, and names the headers of the answer. A code
// without both does not compile.

import { SCOPES, type Scope, SERVICES } from "../../../src/core/access/services.ts";
import { ApiError, type ErrorCode } from "../../../src/core/errors.ts";
import { newTimedId, toUuid } from "../../../src/core/ids.ts";
import { silence, textBatch } from "../fakes/scripted-chat.ts";
import { random } from "../random.ts";
import { type AccountTerms, daysAgo } from "../stores/accounts.ts";
import { act } from "../stores/burn-lab.ts";
import { mailAccount, mailBody } from "../stores/mail-world.ts";
import { chatBody, completionOf } from "./api-world.ts";
import type { ErrorDoor } from "./error-door.ts";
import { MODEL } from "./models.ts";
import { endUserRefusals, TOO_LITTLE } from "./provoke-end-users.ts";
import { idempotencyRefusals, KEYED } from "./provoke-idempotency.ts";
import { runRefusals } from "./provoke-runs.ts";
import { replaceAnswers } from "./replace-answers.ts";

type Provoke = (door: ErrorDoor) => Promise<Response>;

/** `x-should-retry`; with `wait` there is a `Retry-After` too. */
export type Retry = "false" | "true + wait" | "wait" | "by status";

const opened =
  (terms: AccountTerms): Provoke =>
  async (door) =>
    door.send(await door.open(terms));

const changed =
  (changes: Parameters<ErrorDoor["send"]>[1]): Provoke =>
  async (door) =>
    door.send(await door.open(), changes);

const paused: Provoke = async (door) => {
  const { service } = door.endpoint;
  if (service !== null) door.api.paused.add(service);
  // A count costs nothing: only a pause of its model refuses it.
  door.api.paused.add(`model:${MODEL.id}`);
  return await door.send(await door.open());
};

const failing =
  (error: () => Error): Provoke =>
  async (door) => {
    const restore = replaceAnswers(door.api, () => Promise.reject(error()));
    try {
      return await door.send(await door.open());
    } finally {
      restore();
    }
  };

const mailOf = (fields: object) => ({ text: JSON.stringify(mailBody(fields)) });

const mailing =
  (fields: object): Provoke =>
  async (door) =>
    door.send(await mailAccount(door.api), mailOf(fields));

/** Sends this many messages of one account, and returns the answer to the last one. */
async function lastOf(
  door: ErrorDoor,
  count: number,
  { to, ...terms }: AccountTerms & { readonly to?: readonly string[] } = {},
): Promise<Response> {
  const account = await mailAccount(door.api, terms);
  const mail = mailOf(to === undefined ? {} : { to });
  const send = (at: number) =>
    door.send(account, { ...mail, headers: { "idempotency-key": `message ${at}` } });
  for (let at = 1; at < count; at += 1) await (await send(at)).text();
  return await send(count);
}

const addresses = (count: number) => Array.from({ length: count }, (_, at) => `a${at}@x.test`);

/** By code: the headers of its answer, and the request that it answers. */
export const ERROR_CASES = {
  // A conversation that no provider can shorten; at other endpoints a path below theirs.
  not_found: [
    "false",
    (door) =>
      door.endpoint.path.endsWith("/compact")
        ? changed({ fields: { model: MODEL.id } })(door)
        : changed({ below: "/nothing-here" })(door),
  ],
  method_not_allowed: ["by status", changed({ method: "DELETE" })],
  missing_api_key: ["false", (door) => door.send(null)],
  invalid_api_key: ["false", (door) => door.send({ key: "svc_live_wrong" })],
  payment_required: ["false", opened({ reversed: "2000" })],
  account_inactive: ["false", opened({ state: "suspended" })],
  ip_not_allowed: ["false", opened({ ip: ["192.0.2.0/24"] })],
  insufficient_scope: ["false", (door) => opened({ scopes: scopesWithout(door) })(door)],
  tier_required: ["false", async (door) => door.send(await door.api.account({ scopes: SCOPES }))],
  rate_limit_exceeded: [
    "wait",
    async (door) => {
      const account = await door.open({ requestsPerMinute: 1 });
      await (await door.send(account)).text();
      return await door.send(account);
    },
  ],
  body_too_large: [
    "by status",
    (door) => {
      const bytes = (door.endpoint.body?.bytesMax ?? 0) + 1;
      return changed({ text: "x".repeat(bytes) })(door);
    },
  ],
  invalid_json: ["by status", changed({ text: "{" })],
  messages_required: ["by status", changed({ fields: { messages: [], input: [] } })],
  batch_too_large: [
    "by status",
    (door) => changed({ text: JSON.stringify(Array(501).fill({ query: "fares" })) })(door),
  ],
  unsupported_field: ["by status", mailing({ bcc: "b@x.test" })],
  invalid_parameter: ["by status", changed({ headers: { host: "a,b" } })],
  invalid_action: ["by status", changed({ query: "action=teleport" })],
  too_many_recipients: ["by status", mailing({ to: addresses(11) })],
  idempotency_key_reused: [
    "by status",
    async (door) => {
      const account = await mailAccount(door.api);
      await (await door.send(account, { ...KEYED, ...mailOf({}) })).text();
      return await door.send(account, { ...KEYED, ...mailOf({ subject: "Another" }) });
    },
  ],
  origin_not_allowed: ["false", changed({ headers: { origin: "http://evil.example.com" } })],
  model_not_found: [
    "false",
    (door) =>
      door.endpoint.method === "GET"
        ? changed({ params: { id: "nope" } })(door)
        : changed({ fields: { model: "nope" } })(door),
  ],
  model_not_allowed: ["false", opened({ models: ["other-*"] })],
  message_not_found: ["false", changed({ params: { id: "msg_1" } })],
  receipt_not_found: ["false", changed({ params: { id: "req_1" } })],
  receipt_pending: [
    "true + wait",
    (door) => changed({ params: { id: newTimedId("request", random, Date.now()) } })(door),
  ],
  receipt_gone: [
    "by status",
    async (door) => {
      const account = await door.open();
      const { svc } = await completionOf(await door.api.postTo(door.chatPath, account, chatBody()));
      await door.api.parts.stores.flush();
      const { sql } = door.api.parts.stores.database;
      await sql`DELETE FROM request_log WHERE request = ${toUuid(svc.request_id)}`;
      return await door.send(account, { params: { id: svc.request_id } });
    },
  ],
  mail_unavailable: ["by status", paused],
  mail_rate_limit: ["wait", (door) => lastOf(door, 6)],
  mail_daily_limit: [
    "wait",
    (door) => lastOf(door, 21, { to: addresses(50), paid: "500", paidAt: daysAgo(15) }),
  ],
  model_unavailable: ["by status", paused],
  search_unavailable: ["by status", paused],
  maps_unavailable: ["by status", paused],
  max_cost_exceeded: ["false", changed({ headers: { "x-svc-max-cost-usd": TOO_LITTLE } })],
  key_paused: [
    "false",
    async (door) => {
      const account = await door.open();
      await act(door.api.parts.stores, account);
      return await door.send(account);
    },
  ],
  end_user_budget_exceeded: ["false", endUserRefusals.end_user_budget_exceeded],
  run_budget_exceeded: ["false", runRefusals.run_budget_exceeded],
  run_paused: ["false", runRefusals.run_paused],
  run_ended: ["false", runRefusals.run_ended],
  too_many_budgets: ["false", runRefusals.too_many_budgets],
  run_not_found: ["false", changed({ params: { id: "none" } })],
  idempotency_key_mismatch: ["false", idempotencyRefusals.idempotency_key_mismatch],
  idempotency_in_progress: ["true + wait", idempotencyRefusals.idempotency_in_progress],
  idempotency_already_charged: ["false", idempotencyRefusals.idempotency_already_charged],
  too_many_idempotency_keys: ["wait", idempotencyRefusals.too_many_idempotency_keys],
  key_budget_exceeded: ["false", opened({ monthlyLimit: TOO_LITTLE })],
  monthly_limit_reached: ["false", opened({ ownCap: TOO_LITTLE })],
  account_budget_exceeded: ["false", opened({ budgets: { day: TOO_LITTLE } })],
  insufficient_credits: ["false", opened({ paid: TOO_LITTLE })],
  too_many_streams: ["wait", thirdStreamOnFree],
  context_length_exceeded: [
    "by status",
    failing(
      () => new ApiError("context_length_exceeded", "No room is left", { param: "messages" }),
    ),
  ],
  mail_rejected: [
    "false",
    (door) => {
      door.worlds.mail.smtp.script = { to: () => ({ code: 550 }) };
      return mailing({})(door);
    },
  ],
  upstream_unreachable: [
    "by status",
    failing(() => new ApiError("upstream_unreachable", "No route answered")),
  ],
  service_unavailable: [
    "wait",
    async (door) => door.send(await door.open(), { to: door.worlds.keyless }),
  ],
  internal_error: [
    "by status",
    async (door) => door.send(await door.open(), { to: door.worlds.broken }),
  ],
} satisfies Record<ErrorCode, readonly [Retry, Provoke]>;

/** Every scope but the endpoint's own; at the Application API, no scope. */
function scopesWithout({ endpoint, surface }: ErrorDoor): readonly Scope[] {
  if (surface === "application") return [];
  const { service } = endpoint;
  return SCOPES.filter((scope) => service === null || scope !== SERVICES[service].scope);
}

/** The Free tier has two streams. */
async function thirdStreamOnFree(door: ErrorDoor): Promise<Response> {
  const account = await door.api.account();
  door.api.chat.batches = async function* (_request, { signal }) {
    yield textBatch("Hello");
    await silence(signal);
  };
  const leave = new AbortController();
  const { signal } = leave;
  try {
    const open = () => door.send(account, { fields: { stream: true }, signal });
    await open();
    await open();
    const third = await open();
    return new Response(await third.text(), third);
  } finally {
    leave.abort();
  }
}
