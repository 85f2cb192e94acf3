// Tests a Postgres that comes back without its last commits, as a promoted standby may: the lost
// changes of balances are in the journal of Redis, and Farebox books nothing over them before an
// operator looked.

import { expect, test } from "bun:test";
import { bucketKeys } from "../../../actors/records/keys.ts";
import { verifyBuckets } from "../../../actors/recovery.ts";
import { audit } from "../../../src/accounts/audit.ts";
import { journalLagNow } from "../../../src/accounts/journal-age.ts";
import { WalletRepository } from "../../../src/store/accounts/wallet-repository.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { RejectedEntries } from "../../../src/store/ledger/rejected-entries.ts";
import { flushJournal } from "../../../workers/log-flush.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { auditDeps } from "../../support/stores/audit-lab.ts";
import { DONE, hold, openAccountAlone, openWorld, pay, usd } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);

interface Flushed {
  readonly lines: readonly string[];
  /** The buckets of each pass. */
  readonly rebuilt: readonly (readonly number[])[];
}

/** Flushes as a worker does. */
async function flush(): Promise<Flushed> {
  const lines: string[] = [];
  const rebuilt: number[][] = [];
  const say = (_: object, message: string) => {
    lines.push(message);
  };
  await flushJournal({
    scripts: world.accounts.scripts,
    ledger: new Ledger(world.database),
    keepMs: 60_000,
    log: { info: say, warn: say, error: say },
    rebuild: async (buckets) => {
      rebuilt.push(buckets.map(({ bucket }) => bucket));
      await world.accounts.rebuild(buckets);
    },
    onFork: () => {},
  });
  return { lines, rebuilt };
}

async function spend(account: TestAccount): Promise<void> {
  await (await hold(account, usd("0.02"))).settle(usd("0.01"), DONE);
}

/** Books an amount by hand, and has Redis apply it. */
async function book({ row, actor }: TestAccount, amount: string): Promise<number> {
  const terms = { kind: "adjustment", amount: usd(amount), reason: "by hand" } as const;
  const { number } = await world.store.adjust(row, { ...terms, reference: null });
  await actor.applyOperations();
  return number;
}

/** Postgres forgets the operation. */
async function lose({ row }: TestAccount, number: number): Promise<void> {
  await world.database.sql`
    DELETE FROM operations USING accounts
    WHERE accounts.number = operations.account AND accounts.id = ${row.id}
      AND operations.number = ${number}`;
}

const LOST = "Postgres lacks operations that Redis has applied";

test("an operation that Postgres lost is named, and none of its number is swallowed", async () => {
  const [account, other] = [
    await openAccountAlone(world, { paid: "10" }),
    await openAccountAlone(world, { paid: "10" }),
  ];
  for (const one of [account, other]) await spend(one);
  await world.flush();
  await lose(account, await book(account, "1.5"));
  for (const one of [account, other]) await spend(one);
  // The next operation gets the number of the lost one.
  await pay(world, account, usd("7"));
  await account.actor.applyOperations();

  expect(await flush()).toEqual({ lines: [LOST], rebuilt: [] });
  expect(await new RejectedEntries(world.database).countOpen()).toBe(0);
  // Calls go on meanwhile, and the journals of other buckets are flushed.
  await spend(account);
  const { difference } = await audit(auditDeps(world), other.row);
  expect(difference).toBeNull();
  const audited = await cli("audit", "--json");
  expect([audited.code, audited.out]).toEqual([1, expect.stringContaining(account.row.id)]);
  const doctor = await cli("doctor", "--json");
  expect(doctor.out + doctor.err).toMatch(
    new RegExp(`"Bucket \\d+: Postgres lacks operation 3 of ${account.row.id}`),
  );

  const { lost } = jsonOf(await cli("restore", "--dry-run", "--json"));
  expect(lost.wallets_ahead).toMatchObject([
    { account: account.row.id, lost: [{ kind: "adjustment", amount_usd: "1.5" }] },
  ]);
  const text = await cli("restore", "--dry-run");
  expect(text.out).toContain("adjustment of $1.5");
  expect(jsonOf(await cli("restore", "--yes", "--json"))).toMatchObject({ ok: true, problems: [] });
  const { balance } = jsonOf(await cli("account", "show", account.row.id, "--json"));
  expect(balance).toMatchObject({ paid_usd: 17, free_usd: 4.99 });
  expect(await flush()).toEqual({ lines: [], rebuilt: [] });
});

test("an operation that was booked again under its number counts as the one lost", async () => {
  const account = await openAccountAlone(world, { paid: "10" });
  await spend(account);
  await lose(account, await book(account, "1.5"));
  await spend(account);
  expect((await flush()).lines).toEqual([LOST]);
  await book(account, "1.5");
  expect((await flush()).lines).toEqual([]);
  const { balance } = jsonOf(await cli("account", "show", account.row.id, "--json"));
  expect(balance).toMatchObject({ paid_usd: 11.5, free_usd: 4.98 });
  expect((await audit(auditDeps(world), account.row)).difference).toBeNull();
});

test("an operation that took less than its amount is not treated as lost", async () => {
  const account = await openAccountAlone(world, { paid: "10" });
  const held = await hold(account, usd("12"));
  // The hold took the free credit first: $3 of the paid balance are left.
  await book(account, "-8");
  const [payment] = await world.payments.list(account.row);
  const terms = { actor: "operator", reason: "refund", reference: null } as const;
  await world.payments.change(payment?.id ?? "", {
    terms,
    decide: ({ amount }) => ({ refunded: amount }),
  });
  await account.actor.applyOperations();
  await held.settle(usd("0.01"), DONE);
  expect((await flush()).lines).toEqual([]);
  expect((await audit(auditDeps(world), account.row)).difference).toBeNull();
});

test("a bucket waits also if Postgres lost its epoch and an operation", async () => {
  const { account, number, before } = await withoutItsEpoch();
  const { bucket } = account.row;
  expect(await flush()).toEqual({ lines: [LOST], rebuilt: [] });
  expect(await flush()).toEqual({ lines: [LOST], rebuilt: [] });
  expect((await account.actor.view(account.keyId)).paid).toBe(usd("11.5"));
  // The operator looked, and books the amount again: then the bucket is rebuilt from Postgres.
  expect(await book(account, "1.5")).toBe(number);
  expect((await flush()).lines).toEqual([]);
  expect((await cursorOf(bucket)).epoch).toBe(before.epoch + 2);
  await spend(account);
  expect((await flush()).lines).toEqual([]);
  expect((await audit(auditDeps(world), account.row)).difference).toBeNull();
});

test("while one bucket waits, the others are rebuilt together", async () => {
  const cursors = new Map<number, CursorRow>();
  for (let count = 0; count < 2; count++) {
    const other = await openAccountAlone(world, { paid: "10" });
    cursors.set(other.row.bucket, await withNewEpoch(other));
  }
  const { account, before } = await withoutItsEpoch();
  for (const [bucket, cursor] of cursors) await setCursor(bucket, cursor);

  const { lines, rebuilt } = await flush();
  expect([lines, rebuilt.map(sorted)]).toEqual([[LOST], [sorted([...cursors.keys()])]]);
  for (const [bucket, { epoch }] of cursors) {
    expect((await cursorOf(bucket)).epoch).toBe(epoch + 2);
  }
  expect(await cursorOf(account.row.bucket)).toEqual(before);
  expect((await account.actor.view(account.keyId)).paid).toBe(usd("11.5"));
  expect((await journalLagNow({ ...world, now: Date.now })).entries).toBeGreaterThan(0);
  await world.accounts.rebuild([{ bucket: account.row.bucket }]);
});

test("while one bucket waits, another that Redis lost is rebuilt", async () => {
  const other = await openAccountAlone(world, { paid: "10" });
  const { account, before } = await withoutItsEpoch();
  const { epoch } = await cursorOf(other.row.bucket);
  await setCursor(other.row.bucket, { epoch: epoch + 5, entry: 0 });
  expect(await flush()).toEqual({ lines: [LOST], rebuilt: [] });
  expect((await cursorOf(other.row.bucket)).epoch).toBe(epoch + 6);
  expect(await cursorOf(account.row.bucket)).toEqual(before);
  await world.accounts.rebuild([{ bucket: account.row.bucket }]);
});

test("a bucket waits also if the journal of the lost epoch was trimmed", async () => {
  const { account, before } = await withoutItsEpoch();
  const { bucket } = account.row;
  await world.redis.xtrim(bucketKeys(bucket).events, "MINID", `${before.epoch + 1}-1`);
  expect(await flush()).toEqual({
    lines: ["Postgres is older than the journal goes back"],
    rebuilt: [],
  });
  expect(await cursorOf(bucket)).toEqual(before);
  await world.accounts.rebuild([{ bucket }]);
});

test("a bucket waits also if Redis is compared again, as after a restart", async () => {
  const { account, number, before } = await withoutItsEpoch();
  expect(await compare()).toEqual([]);
  expect(await cursorOf(account.row.bucket)).toEqual(before);
  expect((await flush()).lines).toEqual([LOST]);
  expect((await account.actor.view(account.keyId)).paid).toBe(usd("11.5"));
  expect(await book(account, "1.5")).toBe(number);
  // No operation is lacking any more, and the journal is short enough to see that at once.
  expect(await compare()).toEqual([account.row.bucket]);
  expect((await cursorOf(account.row.bucket)).epoch).toBe(before.epoch + 2);
});

test("a journal that is too long to read while calls wait is left to the flush", async () => {
  const account = await openAccountAlone(world, { paid: "10" });
  const { bucket } = account.row;
  const before = await withNewEpoch(account);
  await spend(account);
  const { events } = bucketKeys(bucket);
  const [entry] = await world.redis.xrevrangeBuffer(events, "+", "-", "COUNT", 1);
  const adding = world.redis.pipeline();
  for (let count = 0; count < 4_000; count++) {
    adding.xadd(events, `${before.epoch + 1}-*`, "e", entry?.[1][1] ?? "");
  }
  await adding.exec();
  await setCursor(bucket, before);
  expect(await compare()).toEqual([]);
  expect(await cursorOf(bucket)).toEqual(before);
  expect(await flush()).toEqual({ lines: [], rebuilt: [[bucket]] });
});

/** Compares Redis with Postgres, as a process does when Redis was restarted. */
async function compare(): Promise<readonly number[]> {
  const rebuilt: number[] = [];
  await verifyBuckets({
    redis: world.redis,
    repository: new WalletRepository(world.database),
    onRecovered: (buckets) => rebuilt.push(...buckets),
  });
  return rebuilt;
}

function sorted(buckets: readonly number[]): readonly number[] {
  return buckets.toSorted((one, other) => one - other);
}

/** Redis was restarted, and an amount was booked; then Postgres came back without both changes. */
async function withoutItsEpoch() {
  const account = await openAccountAlone(world, { paid: "10" });
  const before = await withNewEpoch(account);
  const number = await book(account, "1.5");
  await spend(account);
  await setCursor(account.row.bucket, before);
  await lose(account, number);
  return { account, number, before };
}

/** Raises the epoch of the account's bucket, as after a restart; returns the cursor before it. */
async function withNewEpoch(account: TestAccount): Promise<CursorRow> {
  const { bucket } = account.row;
  await spend(account);
  await world.flush();
  const before = await cursorOf(bucket);
  await world.accounts.rebuild([{ bucket }]);
  return before;
}

interface CursorRow {
  readonly epoch: number;
  readonly entry: number;
}

async function cursorOf(bucket: number): Promise<CursorRow> {
  const [row] = await world.database.sql<{ epoch: string; entry: string }[]>`
    SELECT epoch, entry FROM journal_cursors WHERE bucket = ${bucket}`;
  return { epoch: Number(row?.epoch), entry: Number(row?.entry) };
}

async function setCursor(bucket: number, { epoch, entry }: CursorRow): Promise<void> {
  await world.database.sql`
    UPDATE journal_cursors SET epoch = ${epoch}, entry = ${entry} WHERE bucket = ${bucket}`;
}
