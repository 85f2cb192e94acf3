// Tests that an audit reads all holds of an account at one instant, whichever process has them.

import { beforeEach, expect, test } from "bun:test";
import { type AccountInspection, inspectAccount } from "../../../actors/inspection.ts";
import { holdsKey, MAIL_OWNER } from "../../../actors/records/keys.ts";
import type { RedisClient } from "../../../actors/scripts/script.ts";
import { LEASE_MS } from "../../../src/core/access/limits.ts";
import { TestClock } from "../../support/product/actor-process.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import {
  accountIn,
  hold,
  openAccountAlone,
  openWorld,
  usd,
  type World,
} from "../../support/stores/world.ts";

const clock = new TestClock("2031-03-15T12:00:00.000Z");
const world = await shared(openWorld(clock.options));
let account: TestAccount;
beforeEach(async () => {
  account = await openAccountAlone(world, {
    createdAt: clock.daysAgo(100),
    paid: "100",
    paidAt: clock.daysAgo(50),
  });
});

/** The holds that the audit reads of the account, through `redis`. */
async function inspect(redis: RedisClient = world.redis): Promise<AccountInspection["holds"]> {
  const { id, bucket } = account.row;
  const after = { epoch: 0, entry: 0 };
  const question = { id, bucket, keyIds: [account.keyId], after, count: 10, now: clock.ms };
  return (await inspectAccount(redis, question)).holds;
}

/** A hold of another process. */
async function holdElsewhere(of: World = world): Promise<string> {
  const process = of.process();
  const elsewhere = accountIn(process, account);
  await hold(elsewhere, usd("2"));
  return process.leases.owner;
}

/** The same Redis, which runs `happen` each time after the owners of holds were read. */
function whenOwnersWereRead(happen: () => Promise<unknown>): RedisClient {
  return new Proxy(world.redis, {
    get(redis, name) {
      const value: unknown = Reflect.get(redis, name);
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        const reply: unknown = await value.apply(redis, args);
        if (name === "hkeys") await happen();
        return reply;
      };
    },
  });
}

test("all holds of an account are read, each with its end, and none of another's", async () => {
  const own = await hold(account, usd("1"), { stream: true });
  const owner = await holdElsewhere();
  const mail = await hold(account, usd("3"), { isDetached: true });
  const { bucket } = account.row;
  const foreign = await world.redis.hgetBuffer(
    holdsKey(bucket, world.accounts.leases.owner),
    own.id,
  );
  const ofAnother = Buffer.from(
    String(foreign?.toString("latin1")).replace(/acct_\w/, "acct_~"),
    "latin1",
  );
  await world.redis.hset(holdsKey(bucket, owner), "req_of_another", ofAnother);
  clock.ms += 1_000;
  const found = (await inspect()).map(({ request, owner: of, leaseMs, record }) => ({
    request,
    owner: of,
    endsInMs: (leaseMs ?? 0) - clock.ms,
    paid: record?.paid,
    isStream: record?.isStream,
  }));
  const endsInMs = LEASE_MS - 1_000;
  expect(found).toHaveLength(3);
  expect(found).toEqual(
    expect.arrayContaining([
      {
        request: own.id,
        owner: world.accounts.leases.owner,
        endsInMs,
        paid: usd("1"),
        isStream: true,
      },
      expect.objectContaining({ owner, endsInMs, paid: usd("2"), isStream: false }),
      { request: mail.id, owner: MAIL_OWNER, endsInMs, paid: usd("3"), isStream: false },
    ]),
  );
});

test("a process that takes its first hold meanwhile is not overlooked", async () => {
  await hold(account, usd("1"));
  let comesLate: string | null = null;
  const redis = whenOwnersWereRead(async () => {
    comesLate ??= await holdElsewhere();
  });
  const owners = (await inspect(redis)).map(({ owner }) => owner);
  expect(owners.toSorted()).toEqual([world.accounts.leases.owner, String(comesLate)].toSorted());
});

test("a bucket in which new processes keep appearing gives no reading at all", async () => {
  await hold(account, usd("1"));
  await expect(inspect(whenOwnersWereRead(() => holdElsewhere()))).rejects.toThrow(
    "Processes come all the time",
  );
});
