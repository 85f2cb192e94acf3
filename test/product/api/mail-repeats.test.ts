// Tests idempotency keys: of many requests with one key, one makes the message.

import { beforeEach, expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { errorOf } from "../../support/api/api-world.ts";
import { sharedMail } from "../../support/api/shared-api.ts";
import { eventually } from "../../support/eventually.ts";
import { closedGate } from "../../support/gate.ts";
import { random } from "../../support/random.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { mailAccount, mailBody, resultOf } from "../../support/stores/mail-world.ts";

let account: TestAccount;
const world = await sharedMail();
beforeEach(async () => {
  account = await mailAccount(world.api, { contract: "enterprise", paid: "100" });
});

/** The parts that callers compare: the status, the cost and the body, word for word. */
async function answerOf(response: Response): Promise<string> {
  const cost = response.headers.get("x-svc-cost-usd");
  return `${response.status} ${cost} ${await response.text()}`;
}

test("50 requests at once send one message, are charged once, and get one answer", async () => {
  const gate = closedGate();
  world.smtp.script = { data: () => gate.pass().then(() => null) };
  const sending = Array.from({ length: 50 }, () => world.send(account, mailBody(), "fifty"));
  await eventually("all of them are under way", () => world.api.pendingRequests === 50);
  gate.open();
  const responses = await Promise.all(sending);
  const repeats = responses.filter((one) => one.headers.get("idempotent-replayed") === "true");
  expect(repeats).toHaveLength(49);
  const answers = new Set(await Promise.all(responses.map(answerOf)));
  expect(answers.size).toBe(1);
  expect([...answers][0]).toStartWith("200 0.0015 ");
  expect(world.smtp.accepted).toHaveLength(1);
  const { monthSpent, heldPaid } = await world.api.view(account);
  expect([monthSpent, heldPaid]).toEqual([usd("0.0015"), usd("0")]);
  expect(await world.api.usedToday(account, "recipients")).toBe(1);
});

test("a repeat gets the first answer, even if the message has changed since", async () => {
  world.smtp.script = { to: () => ({ code: 450 }) };
  const first = await answerOf(await world.send(account, mailBody(), "later"));
  expect(first).toStartWith('202 0 {"id":"msg_');
  world.smtp.script = {};
  await world.retryNow();
  const { id } = JSON.parse(first.slice(6)) as { id: string };
  await eventually("it is sent", async () => (await world.status(account, id)).status === "sent");
  expect(await answerOf(await world.send(account, mailBody(), "later"))).toBe(first);
  expect(world.smtp.accepted).toHaveLength(1);
});

test("a key belongs to one account, and to one body in whatever order of fields", async () => {
  const first = await resultOf(await world.send(account, mailBody(), "shared"));
  const other = await mailAccount(world.api);
  const second = await resultOf(await world.send(other, mailBody({ text: "Else" }), "shared"));
  expect(second.id).not.toBe(first.id);
  const turned = { text: "A line.", subject: "Hello", to: ["ada@EXAMPLE.test"] };
  expect((await resultOf(await world.send(account, turned, "shared"))).id).toBe(first.id);
  const refused = await world.send(account, mailBody({ text: "Else" }), "shared");
  expect(refused.status).toBe(400);
  expect((await errorOf(refused)).code).toBe("idempotency_key_reused");
  expect(world.smtp.accepted).toHaveLength(2);
});

test("refusals are not kept: the same key may be used again", async () => {
  const poor = await mailAccount(world.api, { contract: "enterprise", paid: "0.001" });
  const without = await world.send(poor, mailBody(), "again");
  expect((await errorOf(without)).code).toBe("insufficient_credits");
  world.smtp.script = { to: () => ({ code: 550 }) };
  const all = await Promise.all(
    Array.from({ length: 5 }, () => world.send(account, mailBody(), "again")),
  );
  expect(all.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422]);
  world.smtp.script = {};
  expect((await world.send(account, mailBody(), "again")).status).toBe(200);
  expect(world.smtp.accepted).toHaveLength(1);
});

test("a refusal is answered although its key cannot be freed", async () => {
  const { sql } = world.api.parts.stores.database;
  const poor = await mailAccount(world.api, { contract: "enterprise", paid: "0.001" });
  await sql`CREATE FUNCTION keep_keys() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the disk is full' USING ERRCODE = '53100'; END $$`;
  await sql`CREATE TRIGGER keep_keys BEFORE DELETE ON mail_repeats EXECUTE FUNCTION keep_keys()`;
  const refused = await world.send(poor, mailBody(), "kept");
  world.smtp.script = { to: () => ({ code: 550 }) };
  const rejected = await world.send(account, mailBody(), "kept");
  const repeat = await world.send(account, mailBody(), "kept");
  await sql`DROP FUNCTION keep_keys CASCADE`;
  expect((await errorOf(refused)).code).toBe("insufficient_credits");
  expect((await errorOf(rejected)).code).toBe("mail_rejected");
  expect((await errorOf(repeat)).code).toBe("mail_rejected");
  await sql`UPDATE mail_repeats SET claimed_until = now() - interval '1 second'`;
  const again = await world.send(poor, mailBody(), "kept");
  expect((await errorOf(again)).code).toBe("insufficient_credits");
});

test("a process that dies leaves its key to the next one, or the message it made", async () => {
  const { idempotencyKeys: repeats } = world.api.parts.stores.mail;
  const { sql } = world.api.parts.stores.database;
  const first = await resultOf(await world.send(account, mailBody(), "dying"));
  // As if the process had died before it made the message, longer ago than a claim lasts.
  await sql`UPDATE mail_repeats SET message = NULL, claimed_until = now() - interval '1 second'`;
  const second = await resultOf(await world.send(account, mailBody(), "dying"));
  expect(second.id).not.toBe(first.id);
  // As if it had died just after it made the message.
  const [row] = await sql<{ digest: Uint8Array; fingerprint: Uint8Array }[]>`
    SELECT digest, fingerprint FROM mail_repeats ORDER BY created_at DESC LIMIT 1`;
  if (row === undefined) throw new Error("The key is gone");
  const state = await repeats.begin({ accountId: account.id, ...row }, crypto.randomUUID());
  expect(state).toEqual({ kind: "message", id: second.id });
});

test("a lost claim makes no message", async () => {
  const { idempotencyKeys: repeats, messages } = world.api.parts.stores.mail;
  const { sql } = world.api.parts.stores.database;
  const digest = random(16);
  const key = { accountId: account.id, digest, fingerprint: random(16) };
  const state = await repeats.begin(key, crypto.randomUUID());
  if (state.kind !== "mine") throw new Error(state.kind);
  await sql`UPDATE mail_repeats SET claimed_until = now() - interval '1 second'
    WHERE digest = ${digest}`;
  const other = await repeats.begin(key, crypto.randomUUID());
  expect(other.kind).toBe("mine");
  const stored = await messages.insert({
    id: "msg_0000000000000000000001",
    accountId: account.id,
    requestId: "req_0000000000000000000001",
    hold: "{}",
    recipients: 1,
    domains: ["x.test"],
    box: random(16),
    idempotency: state.claim,
  });
  expect(stored).toBe(false);
  expect(await messages.find("msg_0000000000000000000001", account.id)).toBeNull();
});

test("keys are kept for 48 hours", async () => {
  const { sql } = world.api.parts.stores.database;
  const { idempotencyKeys: repeats } = world.api.parts.stores.mail;
  const first = await resultOf(await world.send(account, mailBody(), "old"));
  await sql`UPDATE mail_repeats SET created_at = now() - interval '47 hours 59 minutes'`;
  expect((await resultOf(await world.send(account, mailBody(), "old"))).id).toBe(first.id);
  await sql`UPDATE mail_repeats SET created_at = now() - interval '48 hours 1 minute'`;
  expect((await resultOf(await world.send(account, mailBody(), "old"))).id).not.toBe(first.id);
  await sql`UPDATE mail_repeats SET created_at = now() - interval '48 hours 1 minute'`;
  expect(await repeats.expire()).toBeGreaterThan(0);
  expect(await repeats.expire()).toBe(0);
});
