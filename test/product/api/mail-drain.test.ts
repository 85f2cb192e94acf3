// Tests that a balance, a minute and a day let exactly the allowed number of simultaneous messages
// through.

import { expect, test } from "bun:test";
import { limitKey } from "../../../actors/records/keys.ts";
import { pack } from "../../../actors/scripts/script.ts";
import { DAY_MS } from "../../../src/core/durations.ts";
import { nano, toDecimal, usd } from "../../../src/core/money/money.ts";
import { errorOf } from "../../support/api/api-world.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { mailAccount, mailBody, startMailWorld } from "../../support/stores/mail-world.ts";

/** The cost of a message to one recipient. */
const COST = usd("0.0015");

const world = await shared(startMailWorld());

/** Counts the answers to this many messages sent at once. */
async function answers(account: TestAccount, messages: number, to: readonly string[]) {
  world.smtp.accepted.length = 0;
  const counts: Record<string, number> = {};
  const send = async () => {
    const response = await world.send(account, mailBody({ to }));
    const told = response.status === 200 ? "sent" : (await errorOf(response)).code;
    counts[told] = (counts[told] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: messages }, send));
  return counts;
}

test("60 messages at once on a balance worth 23: exactly 23 are sent and paid for", async () => {
  const paid = toDecimal(nano(COST * 23n + COST - 1n));
  const account = await mailAccount(world.api, { contract: "enterprise", paid });
  expect(await answers(account, 60, ["a@x.test"])).toEqual({ sent: 23, insufficient_credits: 37 });
  expect(world.smtp.accepted).toHaveLength(23);
  expect(await world.api.view(account)).toMatchObject({ paid: COST - 1n, heldPaid: 0n });
});

test("40 messages at once in a tier that allows 5 a minute: exactly 5 are sent", async () => {
  const account = await mailAccount(world.api);
  expect(await answers(account, 40, ["a@x.test"])).toEqual({ sent: 5, mail_rate_limit: 35 });
  expect(world.smtp.accepted).toHaveLength(5);
  expect((await world.api.view(account)).monthSpent).toBe(nano(COST * 5n));
});

test("5 messages at once with 30 recipients left in the day: exactly 3 are sent", async () => {
  const account = await mailAccount(world.api);
  const to = Array.from({ length: 10 }, (_, i) => `a${i}@x.test`);
  const { redis } = world.api.parts.stores;
  const [seconds] = await redis.time();
  const day = Math.floor((Number(seconds) * 1000) / DAY_MS);
  const { bucket, id } = account;
  await redis.set(limitKey({ bucket, account: id }, "recipients"), pack(day, 70));
  expect(await answers(account, 5, to)).toEqual({ sent: 3, mail_daily_limit: 2 });
  expect(world.smtp.accepted).toHaveLength(3);
  expect((await world.api.view(account)).monthSpent).toBe(usd("0.018"));
});
