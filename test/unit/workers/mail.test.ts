// Tests how workers go on with a message whose process, job or worker is gone; and bounces.

import { beforeEach, expect, test } from "bun:test";
import { DETACHED_LEASE_MS } from "../../../actors/detached-hold.ts";
import { LEASE_MS } from "../../../src/core/access/limits.ts";
import { toUuid } from "../../../src/core/ids.ts";
import { price, usd } from "../../../src/core/money/money.ts";
import { bounceAddress } from "../../../src/services/mail/bounce-address.ts";
import { startBounceListener } from "../../../src/services/mail/providers/bounce-listener.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { MailDeliveries } from "../../../src/store/mail/mail-deliveries.ts";
import { flushForAudit } from "../../../workers/log-flush.ts";
import { completeMail } from "../../../workers/mail-completer.ts";
import { sweepExpired } from "../../../workers/sweep.ts";
import { sharedMail } from "../../support/api/shared-api.ts";
import { eventually } from "../../support/eventually.ts";
import { failureReport, mailTo } from "../../support/fakes/failure-report.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import {
  mailAccount,
  mailBody,
  resultOf,
  startMailWorld,
} from "../../support/stores/mail-world.ts";
import { startPrivateRedis } from "../../support/stores/services.ts";

let account: TestAccount;
const world = await sharedMail();
beforeEach(async () => {
  account = await mailAccount(world.api, { contract: "enterprise", paid: "100" });
});

async function queued(): Promise<string> {
  world.smtp.script = { to: () => ({ code: 450 }) };
  const { id, status } = await resultOf(await world.send(account, mailBody()));
  expect(status).toBe("queued");
  return id;
}

function sweepAt(ms: number) {
  const { scripts } = world.api.parts.stores.actors;
  return sweepExpired({ scripts, scriptTime: () => ms });
}

async function leaseOf(): Promise<number> {
  const [hold] = await world.api.holdRecords(account);
  return hold?.deadlineMs ?? Number.NaN;
}

test("the hold of a waiting message outlives its request while a worker renews it", async () => {
  await queued();
  expect(world.api.openCalls).toBe(0);
  const { sql } = world.api.parts.stores.database;
  await sql`UPDATE mail_messages SET created_at = created_at - interval '1 minute'`;
  await world.worker.timers["mail-holds"].run();
  const lease = await leaseOf();
  expect(lease).toBeGreaterThan(Date.now() + DETACHED_LEASE_MS - 10_000);
  expect((await sweepAt(Date.now() + LEASE_MS + 1_000)).expired).toBe(0);
  expect((await world.api.view(account)).heldPaid).toBe(usd("0.0015"));
});

test("a message whose hold the sweep took is still sent, and charged once", async () => {
  const id = await queued();
  expect((await sweepAt(Date.now() + DETACHED_LEASE_MS + 60_000)).expired).toBeGreaterThan(0);
  expect((await world.api.view(account)).heldPaid).toBe(usd("0"));
  world.smtp.script = {};
  await world.retryNow();
  await world.untilSettled(id);
  const { monthSpent, paid } = await world.api.view(account);
  expect([monthSpent, paid]).toEqual([usd("0.0015"), usd("99.9985")]);
});

test("a worker that dies between the mail server and the account is completed, once", async () => {
  const { database, actors, mail } = world.api.parts.stores;
  const deliveries = new MailDeliveries(database);
  const id = await queued();
  await database.sql`UPDATE mail_messages SET next_attempt_at = now() WHERE status = 'queued'`;
  const claim = await deliveries.claim(id, 60_000);
  if (claim === null) throw new Error("Another worker has it");
  expect(await deliveries.claim(id, 60_000)).toBeNull();
  expect(await deliveries.commit(claim, 60_000)).toBe(true);
  expect(await deliveries.end(claim, { status: "sent", accepted: 1 })).not.toBeNull();
  expect(await deliveries.end(claim, { status: "sent", accepted: 1 })).toBeNull();
  const { keys, queue } = mail;
  const deps = { deliveries, accounts: actors, keys, queue, log: silent };
  const completer = { ...deps, buying: price("0.2", 1_000), graceMs: -1 };
  await completeMail(completer);
  await completeMail(completer);
  expect((await world.stored(id)).cost).toBe(usd("0.0015"));
  expect((await world.api.view(account)).monthSpent).toBe(usd("0.0015"));
  const [entry] = await world.api.journal(account);
  expect(entry?.end?.upstreamCost).toBe(usd("0.0002"));
});

test("a debt that a message's hold paid is not counted as the message's charge", async () => {
  const { database, actors, mail } = world.api.parts.stores;
  const { sql } = database;
  const deliveries = new MailDeliveries(database);
  const id = await queued();
  await sql`INSERT INTO operations (account, number, kind, balance, amount)
    SELECT ${account.row.number}, max(number) + 1, 'reversal', 'paid', ${-usd("150")}::bigint
    FROM operations WHERE account = ${account.row.number}`;
  await account.actor.applyOperations();
  expect((await sweepAt(Date.now() + DETACHED_LEASE_MS + 60_000)).expired).toBeGreaterThan(0);
  const ledger = new Ledger(database);
  await flushForAudit(actors.scripts, ledger);
  await sql`UPDATE mail_messages SET next_attempt_at = now() WHERE status = 'queued'`;
  const claim = await deliveries.claim(id, 60_000);
  if (claim === null) throw new Error("Another worker has it");
  await deliveries.end(claim, { status: "sent", accepted: 1 });
  const { keys, queue } = mail;
  const deps = { deliveries, accounts: actors, keys, queue, log: silent };
  await completeMail({ ...deps, buying: null, graceMs: -1 });
  // The debt took the whole balance, so the message is written off.
  expect((await world.stored(id)).cost).toBe(usd("0"));
  expect((await world.api.journal(account)).map(({ type }) => type)).toContain("late");
});

test("a delivery is recorded once Postgres takes it, and not repeated", async () => {
  const { sql } = world.api.parts.stores.database;
  world.smtp.script = {
    data: async () => {
      await sql`ALTER TABLE mail_contents RENAME TO mail_contents_away`;
      return null;
    },
  };
  const sending = world.send(account, mailBody());
  const isWaiting = () =>
    world.api.parts.logged.some(({ message }) => message.endsWith("waits for Postgres"));
  await eventually("the worker could not record it", isWaiting);
  await sql`ALTER TABLE mail_contents_away RENAME TO mail_contents`;
  const response = await sending;
  expect([response.status, (await resultOf(response)).accepted]).toEqual([200, 1]);
  expect(world.smtp.accepted).toHaveLength(1);
});

test("a worker whose claim is over can neither send a message nor fail it", async () => {
  const { database } = world.api.parts.stores;
  const deliveries = new MailDeliveries(database);
  const id = await queued();
  await database.sql`UPDATE mail_messages SET next_attempt_at = now() WHERE status = 'queued'`;
  const slow = await deliveries.claim(id, 0);
  const next = await deliveries.claim(id, 60_000);
  if (slow === null || next === null) throw new Error("It could not be claimed");
  expect(await deliveries.commit(slow, 60_000)).toBe(false);
  expect(await deliveries.end(slow, { status: "failed", failure: "rejected" })).toBeNull();
  await deliveries.defer(slow, { delayMs: 0, answered: true });
  expect(await deliveries.commit(next, 60_000)).toBe(true);
  expect((await world.stored(id)).status).toBe("queued");
});

test("the end of a message is not sent to a server a third time", async () => {
  const { database } = world.api.parts.stores;
  const deliveries = new MailDeliveries(database);
  const id = await queued();
  for (const [may, commits] of [
    [true, true],
    [true, true],
    [false, false],
  ] as const) {
    await database.sql`UPDATE mail_messages SET next_attempt_at = now(), claimed_until = NULL
      WHERE status = 'queued'`;
    const claim = await deliveries.claim(id, 60_000);
    if (claim === null) throw new Error("It could not be claimed");
    expect([claim.mayBeSent, await deliveries.commit(claim, 60_000)]).toEqual([may, commits]);
  }
});

test("a retry that is due is made, even if a wrong clock delayed its job", async () => {
  const { sql } = world.api.parts.stores.database;
  const id = await queued();
  const rows = await sql`UPDATE mail_messages SET next_attempt_at = now() - interval '1 minute'
    WHERE id = ${toUuid(id)} AND attempts = 1 AND claimed_until IS NULL RETURNING id`;
  expect(rows).toHaveLength(1);
  world.smtp.script = {};
  await world.worker.jobs["mail-completer"].run();
  await world.untilSettled(id);
  expect(await world.status(account, id)).toMatchObject({ status: "sent" });
});

test("the key of a sent message is destroyed, even while the queue does not answer", async () => {
  await using queue = await startPrivateRedis();
  await using own = await startMailWorld({ queueUrl: queue.url, waitMs: 100 });
  const { id } = await resultOf(await own.send(await mailAccount(own.api), mailBody()));
  own.smtp.script = {
    data: async () => {
      queue.hang();
      return null;
    },
  };
  await own.retryNow();
  const { keys } = own.api.parts.stores.mail;
  try {
    await own.untilSettled(id);
    await eventually("the key is gone", async () => (await keys.find(id)) === null, 3_000);
  } finally {
    queue.resume();
  }
});

test("a bounce that overtakes the end of its message is accepted when repeated", async () => {
  const id = await queued();
  const { database } = world.api.parts.stores;
  const deliveries = new MailDeliveries(database);
  await database.sql`UPDATE mail_messages SET next_attempt_at = now() WHERE id = ${toUuid(id)}`;
  const claim = await deliveries.claim(id, 60_000);
  if (claim === null) throw new Error("It could not be claimed");
  await using listener = await bounceListener();
  const address = bounceAddress(id, "secret", "b.test");
  expect(await mailTo(listener.port, address)).toBe(451);
  await deliveries.end(claim, { status: "sent", accepted: 1 });
  expect(await mailTo(listener.port, address)).toBe(250);
  expect((await world.stored(id)).status).toBe("bounced");
});

test("a bounce marks its message, and other mail is ignored", async () => {
  const { id } = await resultOf(await world.send(account, mailBody()));
  await using listener = await bounceListener();
  const address = bounceAddress(id, "secret", "b.test");
  expect(await mailTo(listener.port, bounceAddress(id, "forged", "b.test"))).toBe(550);
  expect(await mailTo(listener.port, "postmaster@b.test")).toBe(550);
  expect(await mailTo(listener.port, address, { from: "someone@x.test" })).toBe(250);
  expect((await world.status(account, id)).status).toBe("sent");
  // A vacation notice has an empty sender too.
  const vacation = "Auto-Submitted: auto-replied\r\n\r\nx";
  expect(await mailTo(listener.port, address, { mail: vacation })).toBe(250);
  expect(await mailTo(listener.port, address, { mail: failureReport("delayed") })).toBe(250);
  expect((await world.status(account, id)).status).toBe("sent");
  expect(await mailTo(listener.port, address.toUpperCase())).toBe(250);
  expect((await world.status(account, id)).status).toBe("bounced");
  expect(await mailTo(listener.port, address)).toBe(250);
});

async function bounceListener(): Promise<AsyncDisposable & { readonly port: number }> {
  const { port, close } = await startBounceListener({
    domain: "b.test",
    host: "127.0.0.1",
    port: 0,
    secrets: ["secret"],
    messages: world.api.parts.stores.mail.messages,
    log: silent,
  });
  return { port, [Symbol.asyncDispose]: close };
}
