// Tests the result of a message for every behaviour of a mail server.

import { beforeEach, describe, expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { errorOf, MAIL_DOMAIN } from "../../support/api/api-world.ts";
import { sharedMail } from "../../support/api/shared-api.ts";
import { eventually } from "../../support/eventually.ts";
import type { Script } from "../../support/fakes/scripted-smtp.ts";
import { closedGate } from "../../support/gate.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import {
  mailAccount,
  mailBody,
  resultOf,
  startMailWorld,
} from "../../support/stores/mail-world.ts";

let account: TestAccount;
const world = await sharedMail({ waitMs: 4_000 });
beforeEach(async () => {
  world.smtp.dropAll();
  account = await mailAccount(world.api, { contract: "enterprise", paid: "100" });
});

/** Spent and held since the account was opened, in USD. */
async function money() {
  const { monthSpent, heldPaid } = await world.api.view(account);
  return { spent: monthSpent, held: heldPaid };
}

async function statusOf(id: string): Promise<unknown> {
  return (await world.status(account, id)).status;
}

async function untilStatus(id: string, status: string): Promise<void> {
  await eventually(`the message is ${status}`, async () => (await statusOf(id)) === status);
  await eventually("it is settled", async () => (await world.stored(id)).cost !== null);
}

/** Requires that no secret part of a message is left anywhere. */
async function expectDestroyed(id: string): Promise<void> {
  const { database, redis } = world.api.parts.stores;
  const [row] = await database.sql`SELECT count(*)::int AS boxes FROM mail_contents`;
  expect(row?.boxes).toBe(0);
  await eventually("its key is gone", async () => {
    return (await redis.exists(`content-key:${id}`)) === 0;
  });
}

describe("refused for good", () => {
  const told: readonly (readonly [Script, string])[] = [
    [{ to: () => ({ code: 550 }) }, "no such mailbox"],
    [{ to: () => ({ code: 552, text: "5.2.2 quota of ada@example.test" }) }, "does not take mail"],
    [{ data: () => ({ code: 554 }) }, "breaks a rule"],
    [{ data: () => ({ code: 552, text: "5.3.4 too big" }) }, "too large"],
  ];
  for (const [script, reason] of told) {
    test(`for a reason that is given in general words: ${reason}`, async () => {
      world.smtp.script = script;
      const response = await world.send(account, mailBody());
      expect(response.status).toBe(422);
      expect(response.headers.get("x-svc-cost-usd")).toBe("0");
      const error = await errorOf(response);
      expect(error).toMatchObject({ type: "invalid_request_error", code: "mail_rejected" });
      expect(error.message).toContain(reason);
      expect(error.message).not.toContain("ada@");
      expect(await money()).toEqual({ spent: usd("0"), held: usd("0") });
      const [row] = await world.api.journal(account);
      expect(row?.end).toMatchObject({
        status: 422,
        errorCode: "mail_rejected",
      });
    });
  }

  test("for one of three: the others are charged, and the one is a count", async () => {
    world.smtp.script = { to: (address) => (address.startsWith("b@") ? { code: 550 } : null) };
    const to = ["a@x.test", "b@y.test", "c@z.test"];
    const body = await resultOf(await world.send(account, mailBody({ to })));
    expect(body).toMatchObject({ status: "sent", recipients: 3, accepted: 2, rejected: 1 });
    expect(body.svc.cost_usd).toBe(0.002);
    expect(await money()).toEqual({ spent: usd("0.002"), held: usd("0") });
    expect(world.smtp.accepted[0]?.to).toEqual(["a@x.test", "c@z.test"]);
    await expectDestroyed(body.id);
  });
});

describe("not now", () => {
  const moods: Readonly<Record<string, Script>> = {
    "450 for every recipient": { to: () => ({ code: 450 }) },
    "451 for the message": { data: () => ({ code: 451 }) },
    "421 at the greeting": { connect: () => ({ code: 421 }) },
    "550 for our own sender": { from: () => ({ code: 550 }) },
    "a broken connection at the greeting": { connect: () => "drop" },
    "a broken connection at MAIL": { from: () => "drop" },
    "a broken connection at RCPT": { to: () => "drop" },
    "silence at RCPT": { to: () => "hang" },
  };
  for (const [mood, script] of Object.entries(moods)) {
    test(`${mood}: it is queued, its hold stays, and it is sent once`, async () => {
      world.smtp.script = script;
      const response = await world.send(account, mailBody());
      const { id, status, accepted, svc } = await resultOf(response);
      expect([response.status, status, accepted, svc.cost_usd]).toEqual([202, "queued", 0, 0]);
      expect(response.headers.get("x-svc-cost-usd")).toBe("0");
      expect(await money()).toEqual({ spent: usd("0"), held: usd("0.0015") });
      expect(await statusOf(id)).toBe("queued");
      expect(world.smtp.accepted).toHaveLength(0);

      world.smtp.script = {};
      await world.retryNow();
      await untilStatus(id, "sent");
      expect(world.smtp.accepted).toHaveLength(1);
      expect(await money()).toEqual({ spent: usd("0.0015"), held: usd("0") });
      await expectDestroyed(id);
      const row = (await world.api.journal(account)).find(({ metadata }) => {
        return metadata?.endpoint === "/v1/mail/send";
      });
      expect(row?.end).toMatchObject({ status: 202, errorCode: null });
    });
  }

  test("for a day: it fails, and nothing is charged", async () => {
    world.smtp.script = { to: () => ({ code: 450 }) };
    const { id } = await resultOf(await world.send(account, mailBody()));
    await world.api.parts.stores.database.sql`
      UPDATE mail_messages SET created_at = created_at - interval '24 hours'`;
    await world.retryNow();
    await untilStatus(id, "failed");
    expect((await world.stored(id)).failure).toBe("expired");
    expect(await money()).toEqual({ spent: usd("0"), held: usd("0") });
    await expectDestroyed(id);
  });

  test("and its key is lost: it fails, and nothing is charged", async () => {
    world.smtp.script = { to: () => ({ code: 450 }) };
    const { id } = await resultOf(await world.send(account, mailBody()));
    await world.api.parts.stores.redis.del(`content-key:${id}`);
    await world.retryNow();
    await untilStatus(id, "failed");
    expect((await world.stored(id)).failure).toBe("unreadable");
    expect(await money()).toEqual({ spent: usd("0"), held: usd("0") });
  });
});

describe("an answer that is lost after the whole message was sent", () => {
  test("leads to one repeat with the same Message-ID, and to one charge", async () => {
    let lost = 0;
    world.smtp.script = { data: () => (lost++ === 0 ? "lost" : null) };
    const { id } = await resultOf(await world.send(account, mailBody()));
    await world.retryNow();
    await untilStatus(id, "sent");
    const messages = await world.smtp.parsed();
    const ids = messages.map(({ messageId }) => messageId);
    expect(ids).toEqual([`<${id}@${MAIL_DOMAIN}>`, `<${id}@${MAIL_DOMAIN}>`]);
    expect(world.smtp.accepted[0]?.raw.equals(world.smtp.accepted[1]?.raw ?? Buffer.alloc(0))).toBe(
      true,
    );
    expect(await money()).toEqual({ spent: usd("0.0015"), held: usd("0") });
  });

  test("twice leads to no third: the message fails, and nothing is charged", async () => {
    world.smtp.script = { data: () => "lost" };
    const { id } = await resultOf(await world.send(account, mailBody()));
    for (let round = 0; round < 4; round += 1) {
      await world.retryNow();
    }
    await untilStatus(id, "failed");
    expect((await world.stored(id)).failure).toBe("unanswered");
    expect(world.smtp.accepted).toHaveLength(2);
    expect(await money()).toEqual({ spent: usd("0"), held: usd("0") });
  });

  test("a 451 after the whole message is an answer: it is tried as often as it takes", async () => {
    world.smtp.script = { data: () => ({ code: 451 }) };
    const { id } = await resultOf(await world.send(account, mailBody()));
    for (let round = 0; round < 4; round += 1) {
      await world.retryNow();
    }
    world.smtp.script = {};
    await world.retryNow();
    await untilStatus(id, "sent");
    expect(world.smtp.accepted).toHaveLength(1);
  });
});

test("a slow server gets its time, and a request that stops waiting gets queued", async () => {
  const slow = closedGate();
  world.smtp.script = { data: () => slow.pass().then(() => null) };
  const sending = world.send(account, mailBody());
  await eventually("the server has all of it", () => slow.arrivals === 1);
  slow.open();
  expect((await sending).status).toBe(200);
  await using hasty = await startMailWorld({ waitMs: 200 });
  const slower = closedGate();
  hasty.smtp.script = { data: () => slower.pass().then(() => null) };
  const own = await mailAccount(hasty.api);
  const response = await hasty.send(own, mailBody());
  expect(response.status).toBe(202);
  slower.open();
  const { id } = await resultOf(response);
  await eventually("it is sent", async () => (await hasty.status(own, id)).status === "sent");
  expect(hasty.smtp.accepted).toHaveLength(1);
});

test("a server with an untrusted certificate gets nothing", async () => {
  await using careful = await startMailWorld({ waitMs: 3_000, tls: "required" });
  const own = await mailAccount(careful.api);
  const response = await careful.send(own, mailBody());
  expect(response.status).toBe(202);
  expect(careful.smtp.accepted).toHaveLength(0);
});

test("connections are used again, and one that the server closed costs nothing", async () => {
  await using quiet = await startMailWorld();
  const own = await mailAccount(quiet.api, { contract: "enterprise", paid: "100" });
  for (let sent = 0; sent < 3; sent += 1) await quiet.send(own, mailBody());
  expect(quiet.smtp.connections).toBe(1);
  quiet.smtp.dropAll();
  expect((await quiet.send(own, mailBody())).status).toBe(200);
  expect([quiet.smtp.connections, quiet.smtp.accepted.length]).toEqual([2, 4]);
});
