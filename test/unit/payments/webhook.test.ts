import { expect, test } from "bun:test";
import { connect } from "node:net";
import { signatureOf } from "../../../src/annexes/stripe-sandbox/sandbox-webhooks.ts";
import { SeldomLog } from "../../../src/core/log.ts";
import { BODY_BYTES_AT_ONCE } from "../../../src/http/body/body-shares.ts";
import { processEvent } from "../../../src/payments/provider-event.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { shared } from "../../support/shared.ts";
import {
  openPaymentLab,
  PREVIOUS_SECRET,
  WEBHOOK_SECRET,
} from "../../support/stores/payment-lab.ts";
import { usd } from "../../support/stores/world.ts";

const lab = await shared(openPaymentLab());

const nowSeconds = () => Math.floor(Date.now() / 1_000);

function eventBody(fields: object = {}): string {
  const id = `evt_${crypto.randomUUID()}`;
  const data = { object: { id: "pi_of_nobody", object: "payment_intent" } };
  const created = nowSeconds();
  const type = "payment_intent.succeeded";
  return JSON.stringify({ id, object: "event", type, created, livemode: false, data, ...fields });
}

async function send(body: string, signature: string | null): Promise<Response> {
  const headers = signature === null ? {} : { "stripe-signature": signature };
  return await fetch(lab.webhookUrl, { method: "POST", body, headers });
}

/** The answer's status, and the webhook's counts. */
async function sent(body: string, signature: string | null) {
  lab.answered.splice(0);
  const { status } = await send(body, signature);
  return [status, ...lab.answered.flat()];
}

test("an event that is signed ahead of the clock is taken within the tolerance only", async () => {
  for (const [ahead, words] of [
    [290, [200, "payment_intent.succeeded", "received"]],
    [4_000, [400, "refused", "stale"]],
    [-4_000, [400, "refused", "stale"]],
  ] as const) {
    const body = eventBody();
    expect(await sent(body, signed(body, WEBHOOK_SECRET, nowSeconds() + ahead))).toEqual([
      ...words,
    ]);
  }
  const body = eventBody();
  const two = `t=1,${signed(body, WEBHOOK_SECRET, nowSeconds() + 4_000)}`;
  expect(await sent(body, two)).toEqual([400, "refused", "stale"]);
  lab.inbox.splice(0);
});

test("a thin event is refused as one", async () => {
  const body = eventBody({ object: "v2.core.event", data: undefined });
  const { error } = (await (await send(body, signed(body))).json()) as {
    error: { message: string };
  };
  expect(error.message).toContain("thin one of Stripe's API v2: have the endpoint send snapshot");
  const broken = "{";
  const other = (await (await send(broken, signed(broken))).json()) as typeof error & {
    error: { message: string };
  };
  expect(other.error.message).toContain("The event is not JSON");
});

test("every answer has a request id, and a refusal names it", async () => {
  const body = eventBody();
  const good = await send(body, signed(body));
  expect(good.headers.get("x-request-id")).toMatch(/^req_[0-9A-Za-z]{22}$/);
  const refused = await send(body, "t=1,v1=00");
  const { error } = (await refused.json()) as { error: { message: string } };
  expect(error.message).toContain(`(request ${refused.headers.get("x-request-id")})`);
  lab.inbox.splice(0);
});

test("events that come ten at a time are all answered", async () => {
  const one = async () => {
    const body = eventBody();
    return (await send(body, signed(body))).status;
  };
  for (let round = 0; round < 20; round += 1) {
    const statuses = await Promise.all(Array.from({ length: 10 }, one));
    expect(statuses).toEqual(Array(10).fill(200));
  }
  lab.inbox.splice(0);
});

const signed = (body: string, secret = WEBHOOK_SECRET, seconds = nowSeconds()) =>
  signatureOf(body, secret, seconds);

test("an event without a signature, or with a forged one, is refused and counted", async () => {
  const body = eventBody();
  expect(await sent(body, null)).toEqual([400, "refused", "signature"]);
  expect(await sent(body, signed(body, "whsec_of_somebody_else"))).toEqual([
    400,
    "refused",
    "signature",
  ]);
  expect(await sent(body, signed(body, ""))).toEqual([400, "refused", "signature"]);
  const other = body.replace("pi_of_nobody", "pi_of_the_forger");
  expect(await sent(other, signed(body))).toEqual([400, "refused", "signature"]);
  expect(lab.inbox).toEqual([]);
});

test("refused events, which any caller can send, do not fill the log", async () => {
  const lines: object[] = [];
  const warn = (fields: object) => lines.push(fields);
  const log = new SeldomLog({ ...silent, warn }, new FakeClock());
  await using own = await openPaymentLab({ log });
  const body = eventBody();
  for (let sent = 0; sent < 20; sent += 1) {
    const { status } = await fetch(own.webhookUrl, { method: "POST", body });
    expect(status).toBe(400);
  }
  expect(lines).toEqual([{ requestId: expect.any(String), reason: "signature" }]);
  expect(own.answered).toHaveLength(20);
});

test("an event that was signed more than five minutes ago is refused and counted", async () => {
  const body = eventBody();
  const old = signed(body, WEBHOOK_SECRET, nowSeconds() - 301);
  expect(await sent(body, old)).toEqual([400, "refused", "stale"]);
  const recent = signed(body, WEBHOOK_SECRET, nowSeconds() - 200);
  expect(await sent(body, recent)).toEqual([200, "payment_intent.succeeded", "received"]);
  lab.inbox.splice(0);
});

test("an event of another account or of real money is refused and counted", async () => {
  for (const fields of [{ account: "acct_of_a_stranger" }, { livemode: true }]) {
    const body = eventBody(fields);
    expect(await sent(body, signed(body))).toEqual([400, "refused", "wrong_account"]);
  }
});

test("a signed event that cannot be stored is answered with 400", async () => {
  const odd = [
    "null",
    eventBody({ id: "evt_\0" }),
    eventBody({ type: "x".repeat(256) }),
    eventBody({ created: 1e300 }),
    eventBody({ created: -1 }),
    eventBody({ data: { object: { id: "ch_\0", object: "charge" } } }),
  ];
  for (const body of odd) {
    expect(await sent(body, signed(body))).toEqual([400, "refused", "malformed"]);
  }
  expect(lab.inbox).toEqual([]);
});

test("during a roll both secrets are accepted", async () => {
  for (const secret of [WEBHOOK_SECRET, PREVIOUS_SECRET]) {
    const body = eventBody();
    expect((await sent(body, signed(body, secret)))[0]).toBe(200);
  }
  expect(lab.inbox.splice(0)).toHaveLength(2);
});

test("a repeated event is stored once and leads to one job", async () => {
  const body = eventBody();
  expect(await sent(body, signed(body))).toEqual([200, "payment_intent.succeeded", "received"]);
  expect(await sent(body, signed(body))).toEqual([200, "payment_intent.succeeded", "repeated"]);
  expect(lab.inbox.splice(0)).toHaveLength(1);
});

test("events of unknown kinds, objects and API versions are taken and ignored", async () => {
  const bodies = [
    eventBody({ type: "moon.phase_changed", data: { object: { id: "mo_1", object: "moon" } } }),
    eventBody({ type: "thin", data: {} }),
    eventBody({ api_version: "2011-01-01", data: { object: {} } }),
    eventBody(),
  ];
  for (const body of bodies) expect((await sent(body, signed(body)))[0]).toBe(200);
  for (const event of lab.inbox.splice(0)) {
    await processEvent(lab.payments, event);
    expect(await lab.payments.events.findReceived(event)).toBeNull();
  }
});

test("amounts and states in an event are not believed", async () => {
  const account = await lab.account();
  const started = await lab.pay(account, "20", "4000000000000002");
  await lab.settle();
  const intent = (await lab.topUp(started.id)).intent ?? "";
  const lie = {
    id: intent,
    object: "payment_intent",
    status: "succeeded",
    amount_received: 99_900,
  };
  const body = eventBody({ data: { object: lie } });
  expect((await sent(body, signed(body)))[0]).toBe(200);
  await lab.settle();
  expect(await lab.topUp(started.id)).toMatchObject({ status: "open", payment: null });
  expect(await lab.credited(account)).toBe(usd("0"));
});

test("a body that is too large or not JSON is refused and counted", async () => {
  const huge = "x".repeat(600_000);
  expect(await sent(huge, signed(huge))).toEqual([413, "refused", "body_too_large"]);
  const noJson = "no JSON";
  expect(await sent(noJson, signed(noJson))).toEqual([400, "refused", "malformed"]);
});

/** Begins an event with a body of `bytes` that never arrives. */
function beginEvent(bytes: number, headers: string) {
  const socket = connect(Number(new URL(lab.webhookUrl).port), "127.0.0.1");
  const state = { answer: "" };
  socket.on("data", (data) => {
    state.answer += data.toString("latin1");
  });
  const length = `Content-Length: ${bytes}`;
  socket.write(`POST /webhooks/stripe HTTP/1.1\r\nHost: x\r\n${length}\r\n${headers}\r\n`);
  return { state, [Symbol.dispose]: () => void socket.destroy() };
}

test("an event without a signature is refused before any of its body arrived", async () => {
  using event = beginEvent(1_000, "");
  // The server waits ten seconds for a body.
  await eventually("it is refused", () => event.state.answer.includes("no signature"));
  expect(event.state.answer).toStartWith("HTTP/1.1 400");
});

test("bodies of one address that do not arrive take a bounded amount of memory", async () => {
  const bytes = 512 * 1_024;
  using slow = new DisposableStack();
  for (let taken = 0; taken < BODY_BYTES_AT_ONCE; taken += bytes) {
    slow.use(beginEvent(bytes, "Stripe-Signature: t=1,v1=00\r\n"));
  }
  const body = eventBody();
  await eventually("no more are taken", async () => {
    return (await send(body, signed(body))).status === 429;
  });
  slow.dispose();
  await eventually("there is room again", async () => {
    return (await send(body, signed(body))).status === 200;
  });
  lab.inbox.splice(0);
});
