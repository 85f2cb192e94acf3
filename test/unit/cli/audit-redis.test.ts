import { describe, expect, test } from "bun:test";
import { holdsKey, keyStateKey } from "../../../actors/records/keys.ts";
import { isEnded } from "../../../actors/records/records.ts";
import { monthBefore, monthOf } from "../../../src/core/money/months.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import {
  addToRecord,
  busyAccountAlone,
  charge,
  forgetHolds,
  found,
  foundAtOnce,
  owingAccount,
  WALLET_PAID,
} from "../../support/stores/audit-lab.ts";
import { openWorld, usd } from "../../support/stores/world.ts";

const world = await shared(openWorld());

// The places of the doubles in the packed records (actors/records/records.ts).
const WALLET = {
  version: 2,
  seq: 3,
  paid: WALLET_PAID,
  free: 5,
  heldPaid: 6,
  heldFree: 7,
  owed: 8,
  operations: 9,
  freeExpires: 10,
  streams: 12,
  calls: 13,
  spent: 15,
  held: 16,
  previousSpent: 17,
  previousHeld: 18,
} as const;
const KEY = { spent: 3, held: 4, previousHeld: 6 } as const;
const HOLD_CHECKPOINT = 6;
const BUCKET_EPOCH = 1;

type Damage = (account: TestAccount) => Promise<unknown>;

function wallet(field: keyof typeof WALLET, by: number): Damage {
  return ({ actor }) => addToRecord(world, actor.keys.wallet, WALLET[field], by);
}

function key(field: keyof typeof KEY, by: number): Damage {
  return ({ row, keyId }) => addToRecord(world, keyStateKey(row.bucket, keyId), KEY[field], by);
}

/** The account's one open hold: its hash and its request. */
async function holdOf({ row }: TestAccount) {
  const holds = holdsKey(row.bucket, world.accounts.leases.owner);
  const requests = await world.redis.hkeys(holds);
  const records = await Promise.all(requests.map((id) => world.redis.hgetBuffer(holds, id)));
  const request = requests.find((_, at) => !isEnded(records[at] ?? Buffer.alloc(0)));
  if (request === undefined) throw new Error("There is no open hold");
  return { holds, request };
}

function lease(endsInMs: number): Damage {
  return ({ actor }) =>
    world.redis.hset(actor.keys.leases, world.accounts.leases.owner, Date.now() + endsInMs);
}

const [MONTH, BEFORE] = [monthOf(Date.now()), monthBefore(monthOf(Date.now()))];

describe("damage in Redis", () => {
  const kinds: readonly (readonly [name: string, damage: Damage, words: RegExp])[] = [
    [
      "a paid balance",
      wallet("paid", 1),
      /the available paid balance in Redis, with 1 open holds: expected \$17\.2\d+, found \$17\.25/,
    ],
    [
      "a free balance",
      wallet("free", 5),
      /the available free balance in Redis, .*: expected \$0, found \$0\.000000005/,
    ],
    [
      "a paid hold sum",
      wallet("heldPaid", -1),
      /the held paid balance in Redis, .*: expected \$2, found \$1\.999999999/,
    ],
    [
      "a free hold sum",
      wallet("heldFree", 1),
      /the held free balance in Redis, .*: expected \$0, found \$0\.000000001/,
    ],
    [
      "a balance below zero",
      wallet("paid", -20e9),
      /the available paid balance in Redis: expected \$0 or more, found -\$2\.7/,
    ],
    [
      "something owed while something is there",
      wallet("owed", 1),
      /the available paid balance in Redis while \$0\.000000001 is owed: expected \$0, found \$17/,
    ],
    [
      "an open stream too many",
      wallet("streams", 1),
      /the number of open streams in Redis: expected 1, found 2/,
    ],
    [
      "an open call too many",
      wallet("calls", 1),
      /the number of open calls in Redis: expected 1, found 2/,
    ],
    ["a ledger number", wallet("seq", 1), /the ledger number in Redis: expected 5, found 6/],
    [
      "an operation number",
      wallet("operations", 1),
      /the last operation in Redis: expected 2, found 3/,
    ],
    ["an expiry", wallet("freeExpires", 1), /the end of free credit in Redis: expected \d+, found/],
    [
      "ends of free credit that nobody gave",
      async ({ actor: { keys } }) => {
        const ends = Buffer.alloc(40);
        ends.writeDoubleLE(Date.now() + 86_400_000);
        await world.redis.append(keys.wallet, ends);
      },
      /the ends of free credit before the last in Redis: expected none, found \d+/,
    ],
    [
      "a month's spending",
      wallet("spent", 1),
      /the amount spent by all keys in 20\d{4} in Redis: expected \$5\.75.*, found \$5\.750000002/,
    ],
    [
      "a key's spending",
      key("spent", -1),
      /the amount spent by key_\w+ in 20\d{4} in Redis: expected \$5\.750000001, found \$5\.75$/,
    ],
    [
      "a key's state that is gone",
      ({ row, keyId }) => world.redis.del(keyStateKey(row.bucket, keyId)),
      /the amount held by key_\w+ in 20\d{4} in Redis: expected \$2, found \$0/,
    ],
    [
      "a month's holds",
      wallet("held", 1),
      new RegExp(`the amount held by all keys in ${MONTH} in Redis: expected \\$2, found`),
    ],
    [
      "the holds of a past month",
      wallet("previousHeld", 7),
      new RegExp(`the amount held by all keys in ${BEFORE} in Redis: expected \\$0`),
    ],
    [
      "a key's holds of a past month",
      key("previousHeld", 7),
      new RegExp(`the amount held by key_\\w+ in ${BEFORE} in Redis: expected \\$0`),
    ],
    [
      "the spending of a past month",
      wallet("previousSpent", 7),
      new RegExp(`the amount spent by all keys in ${BEFORE} in Redis: expected \\$0`),
    ],
    [
      "an amount that is no whole number",
      wallet("owed", 0.5),
      /its records in Redis: expected ones that can be read, found 0\.5 is no amount/,
    ],
    [
      "a wallet that cannot be read",
      ({ actor }) => world.redis.set(actor.keys.wallet, "nonsense"),
      /its records in Redis: expected ones that can be read, found A wallet has another length/,
    ],
    [
      "a hold whose process has no lease",
      ({ actor }) => world.redis.del(actor.keys.leases),
      /the number of open calls in Redis: expected 0, found 1/,
    ],
    [
      "a process long past its lease",
      lease(-151_000),
      /the lease of process \w+ with 1 open holds: expected at most 150 s past its end, found 15/,
    ],
    [
      "a hold that cannot be read",
      async (account) => {
        const { holds, request } = await holdOf(account);
        return await world.redis.hset(holds, request, "nonsense");
      },
      /the hold of req_\w+: expected a readable record/,
    ],
    [
      "a checkpoint above its hold",
      async (account) => {
        const { holds, request } = await holdOf(account);
        const bytes = await world.redis.hgetBuffer(holds, request);
        bytes?.writeDoubleLE(3e9, HOLD_CHECKPOINT * 8);
        return await world.redis.hset(holds, request, bytes ?? "");
      },
      /the checkpoint of the hold of req_\w+: expected at most \$2, found \$3/,
    ],
    [
      "a hold that is gone",
      async (account) => {
        const { holds, request } = await holdOf(account);
        return await world.redis.hdel(holds, request);
      },
      /the number of open calls in Redis: expected 0, found 1/,
    ],
    [
      "holds without a wallet",
      ({ actor }) => world.redis.del(actor.keys.wallet),
      /open holds without a wallet: expected none, found 1/,
    ],
    [
      "an access document that Redis was given and has not",
      wallet("version", -1),
      /the version of the access document in Redis: expected \d or later, found \d/,
    ],
    [
      "an access document with another text",
      async ({ actor }) => {
        const document = await world.redis.get(actor.keys.document);
        const changed = (document ?? "").replace('"models"', '"mail"');
        return await world.redis.set(actor.keys.document, changed);
      },
      /the access document in Redis \(version \d\)/,
    ],
  ];

  test.each(kinds.map((kind) => [...kind]))("%s is named", async (_, damage, words) => {
    const account = await busyAccountAlone(world);
    expect(await found(world, account)).toBe("");
    await (damage as Damage)(account);
    expect(await found(world, account)).toMatch(words as RegExp);
    await world.redis.del(account.actor.keys.wallet);
    await forgetHolds(world, account);
  });

  test("a debt that the ledger does not have is named", async () => {
    const account = await owingAccount(world);
    expect(await found(world, account)).toBe("");
    await wallet("owed", 1)(account);
    expect(await found(world, account)).toMatch(
      /the amount owed in Redis, with 1 open holds: expected \$2\.750000001, found \$2\.750000002/,
    );
    await world.redis.del(account.actor.keys.wallet);
    await forgetHolds(world, account);
  });

  test("a journal entry that is gone is named", async () => {
    const account = await busyAccountAlone(world);
    await charge(account, usd("0.5"));
    await charge(account, usd("0.25"));
    const { events } = account.actor.keys;
    const [, first] = await world.redis.xrevrange(events, "+", "-", "COUNT", 2);
    if (first === undefined) throw new Error("The journal is empty");
    await world.redis.xdel(events, first[0]);
    expect(await foundAtOnce(world, account)).toMatch(
      /bucket \d+: the next journal entry: expected \d+, found \d+/,
    );
    await world.accounts.rebuild([{ bucket: account.row.bucket }]);
    expect(await found(world, account)).toBe("");
  });

  test("a journal entry that cannot be read is named", async () => {
    const account = await busyAccountAlone(world);
    await charge(account, usd("0.5"));
    const { events } = account.actor.keys;
    const [last] = await world.redis.xrevrange(events, "+", "-", "COUNT", 1);
    if (last === undefined) throw new Error("The journal is empty");
    await world.redis.xdel(events, last[0]);
    await world.redis.xadd(events, `${last[0].split("-")[0]}-*`, "e", "nonsense");
    expect(await foundAtOnce(world, account)).toMatch(
      /the next journal entry|one that can be read/,
    );
    await world.accounts.rebuild([{ bucket: account.row.bucket }]);
  });

  test("a bucket that is older than the ledger, or of another epoch, is named", async () => {
    const account = await busyAccountAlone(world);
    const { bucket, events } = account.actor.keys;
    const newest = await world.redis.xrevrange(events, "+", "-", "COUNT", 1);
    await world.redis.xdel(events, newest[0]?.[0] ?? "");
    expect(await found(world, account)).toMatch(
      /the number of journal entries in Redis: expected \d+ or more, as in the ledger, found \d+/,
    );
    await world.accounts.rebuild([{ bucket: account.row.bucket }]);
    await charge(account, usd("0.5"));
    await addToRecord(world, bucket, BUCKET_EPOCH, 1);
    expect(await found(world, account)).toMatch(/the epoch in Redis: expected \d+, found \d+/);
    await world.redis.del(bucket);
    expect(await found(world, account)).toMatch(/the epoch in Redis: expected \d+, found none/);
    await world.accounts.rebuild([{ bucket: account.row.bucket }]);
    expect(await found(world, account)).toBe("");
  });
});
