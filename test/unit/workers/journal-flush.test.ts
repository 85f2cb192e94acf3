// Tests that the journal reaches Postgres exactly once, whichever process dies or works at the same
// time, and that a journal that contradicts the ledger is never written.

import { beforeEach, expect, test } from "bun:test";
import { bucketKeys } from "../../../actors/records/keys.ts";
import { fromUuid } from "../../../src/core/ids.ts";
import { usd } from "../../../src/core/money/money.ts";
import { type BucketBatch, Ledger } from "../../../src/store/ledger/ledger.ts";
import { migrate } from "../../../src/store/servers/migrate.ts";
import { shared } from "../../support/shared.ts";
import { type LabAccount, openJournalLab } from "../../support/stores/journal-lab.ts";
import { startPrivatePostgres } from "../../support/stores/services.ts";

const lab = await shared(openJournalLab());
beforeEach(() => {
  lab.rebuilt.length = 0;
});

const CENT = usd("0.01");
const KILLED = new Error("killed");
let bucket = 0;
const nextAccount = () => lab.account(bucket++);

async function spend(account: LabAccount, calls: number): Promise<void> {
  for (let call = 0; call < calls; call++) await account.call(CENT);
}

/** The ledger without gaps or repetitions, the balances of the wallet, and one row a call. */
async function expectBooked(account: LabAccount, calls: number): Promise<void> {
  const rows = await account.ledger();
  expect(rows.map(({ seq }) => Number(seq))).toEqual(rows.map((_, index) => index + 1));
  expect(BigInt(rows.at(-1)?.paid_after)).toBe(account.paid);
  expect(await account.log()).toHaveLength(calls);
  expect(await account.spent()).toBe(BigInt(calls) * CENT);
}

test("a flusher that dies after its commit leaves nothing to write twice", async () => {
  const account = await nextAccount();
  class DyingLedger extends Ledger {
    override async write(batches: readonly BucketBatch[]): Promise<never> {
      await super.write(batches);
      throw KILLED;
    }
  }
  for (let round = 0; round < 3; round++) {
    await spend(account, 3);
    const dying = lab.flush({ ledger: new DyingLedger(lab.database) });
    await expect(dying).rejects.toBe(KILLED);
    expect(await lab.flush()).toBe(0);
  }
  await expectBooked(account, 9);
});

test("a flusher that dies before its commit wrote nothing, and the next one does", async () => {
  const account = await nextAccount();
  await spend(account, 3);
  const { sql } = lab.database;
  await sql`CREATE FUNCTION break_log() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the disk is full' USING ERRCODE = '53100'; END $$`;
  await sql`CREATE TRIGGER broken BEFORE UPDATE ON journal_cursors EXECUTE FUNCTION break_log()`;
  await expect(lab.flush()).rejects.toThrow("the disk is full");
  expect(await account.ledger()).toHaveLength(0);
  await sql`DROP TRIGGER broken ON journal_cursors`;
  expect(await lab.flush()).toBe(4);
  await expectBooked(account, 3);
  expect(await lab.rejected.countOpen()).toBe(0);
});

test("two flushers at once write each entry once", async () => {
  const accounts = await Promise.all(Array.from({ length: 8 }, nextAccount));
  const other = { ledger: new Ledger(lab.database) };
  for (let round = 0; round < 4; round++) {
    const calls = accounts.map((account) => spend(account, 2));
    await Promise.all([...calls, lab.flush(), lab.flush(other), lab.flush()]);
  }
  await lab.flush();
  for (const account of accounts) await expectBooked(account, 8);
  expect(lab.rebuilt).toEqual([]);
});

test("entries leave Redis once they have been in Postgres for long enough", async () => {
  const account = await nextAccount();
  const { events } = bucketKeys(account.bucket);
  await spend(account, 250);
  await lab.flush({ keepMs: Number.POSITIVE_INFINITY });
  expect(await lab.redis.xlen(events)).toBe(251);
  // The first flush with no time to keep notes the entries, the second removes them.
  await lab.flush({ keepMs: 0 });
  expect(await lab.redis.xlen(events)).toBe(251);
  await spend(account, 1);
  await lab.flush({ keepMs: 0 });
  expect(await lab.redis.xlen(events)).toBeLessThan(151);
  await spend(account, 2);
  await lab.flush({ keepMs: 0 });
  await expectBooked(account, 253);
});

test("entries leave Redis although another bucket cannot be flushed", async () => {
  const broken = await nextAccount();
  const account = await nextAccount();
  await spend(broken, 150);
  await spend(account, 250);
  await lab.flush({ keepMs: 0 });
  const [{ events: lost }, { events }] = [bucketKeys(broken.bucket), bucketKeys(account.bucket)];
  const journal = await lab.redis.dumpBuffer(lost);
  await lab.redis.set(lost, "no journal");
  await expect(lab.flush({ keepMs: 0 })).rejects.toThrow("Buckets could not be flushed");
  expect(await lab.redis.xlen(events)).toBeLessThan(151);
  // Entries present at the first of these flushes may leave at the second.
  await spend(account, 250);
  await expect(lab.flush({ keepMs: 0 })).rejects.toThrow("Buckets could not be flushed");
  await expect(lab.flush({ keepMs: 0 })).rejects.toThrow("Buckets could not be flushed");
  expect(await lab.redis.xlen(events)).toBeLessThan(151);
  await lab.redis.restore(lost, 0, journal, "REPLACE");
  await lab.flush({ keepMs: 0 });
  await expectBooked(account, 500);
  await expectBooked(broken, 150);
});

test("unflushed entries are never trimmed, and a mere reader trims nothing", async () => {
  const account = await nextAccount();
  const { events } = bucketKeys(account.bucket);
  await spend(account, 150);
  await lab.flush({ keepMs: Number.POSITIVE_INFINITY });
  await lab.flush({ keepMs: 0 });
  await spend(account, 150);
  class Idle extends Ledger {
    override async cursors() {
      return [];
    }
  }
  await lab.flush({ keepMs: 0, ledger: new Idle(lab.database) });
  expect(await lab.redis.xlen(events)).toBeGreaterThanOrEqual(150);
  await lab.flush();
  await expectBooked(account, 300);
});

/** A Redis that is two entries older is promoted, and keeps writing: the ids repeat cleanly. */
async function loseTwo(account: LabAccount): Promise<void> {
  const { events } = bucketKeys(account.bucket);
  const before = await lab.redis.dumpBuffer(events);
  const [seq, paid] = [account.seq, account.paid];
  await spend(account, 2);
  await lab.flush();
  await lab.redis.restore(events, 0, before, "REPLACE");
  [account.seq, account.paid] = [seq, paid];
}

test("a journal of the same ids and other content is void: the bucket is rebuilt", async () => {
  const account = await nextAccount();
  await spend(account, 3);
  await loseTwo(account);
  for (let call = 0; call < 4; call++) await account.call(usd("0.5"));
  const forks: number[] = [];
  await lab.flush({ onFork: (forked) => forks.push(forked) });
  expect([forks, lab.rebuilt]).toEqual([[account.bucket], [account.bucket]]);
  expect((await account.ledger()).map(({ paid_delta: delta }) => BigInt(delta))).toEqual([
    BigInt(usd("10")),
    ...Array(5).fill(-CENT),
  ]);
  expect(await lab.rejected.countOpen()).toBe(0);
});

test("a journal of the same ids and amounts is void when its calls are others", async () => {
  const account = await nextAccount();
  await spend(account, 3);
  await loseTwo(account);
  await spend(account, 2);
  for (let refusal = 0; refusal < 3; refusal++) await account.refused();
  await spend(account, 2);
  await lab.flush();
  expect(lab.rebuilt).toEqual([account.bucket]);
  expect(await account.ledger()).toHaveLength(6);
});

const CONTRADICTIONS = {
  "a ledger number that is there already": (account: LabAccount) => account.call(CENT, { seq: 2 }),
  "a ledger number that leaves others out": (account: LabAccount) => account.call(CENT, { seq: 9 }),
  "a balance that does not follow": (account: LabAccount) => {
    account.paid += 1n;
    return account.call(CENT);
  },
  "a debt that nobody made": (account: LabAccount) => {
    account.owed = 5n;
    return account.call(CENT);
  },
  "a call that was charged before": async (account: LabAccount) => {
    const [row] = await account.log();
    return await account.call(CENT, { request: fromUuid("request", row?.request) });
  },
} as const;

for (const [name, contradict] of Object.entries(CONTRADICTIONS)) {
  test(`${name} is a contradiction, which rebuilds its bucket and no other`, async () => {
    const [account, other] = [await nextAccount(), await nextAccount()];
    await spend(account, 2);
    await lab.flush();
    await contradict(account);
    await spend(other, 2);
    await lab.flush();
    expect(lab.rebuilt).toEqual([account.bucket]);
    expect(await account.ledger()).toHaveLength(3);
    await expectBooked(other, 2);
    expect(await lab.rejected.countOpen()).toBe(0);
  });
}

test("a journal shorter than Postgres's part of it is compared before it is read", async () => {
  const account = await nextAccount();
  await spend(account, 3);
  await lab.flush();
  await lab.redis.del(bucketKeys(account.bucket).events);
  await spend(account, 2);
  let prepared = 0;
  const prepare = async () => {
    prepared += 1;
  };
  await lab.flush({ scripts: { redis: lab.redis, prepare } });
  expect(prepared).toBe(1);
  expect(await account.ledger()).toHaveLength(4);
});

test("entries of a later epoch wait until the cursor is in it", async () => {
  const account = await nextAccount();
  await spend(account, 1);
  await lab.redis.xadd(bucketKeys(account.bucket).events, "2-0", "e", "later");
  await lab.flush();
  await expectBooked(account, 1);
  expect(await lab.rejected.countOpen()).toBe(0);
});

test("entries wait while Postgres is away, and are written when it is back", async () => {
  await using postgres = await startPrivatePostgres();
  await migrate(postgres.url);
  await using away = await openJournalLab({ databaseUrl: postgres.url });
  const account = await away.account(3);
  await spend(account, 3);
  await away.flush();
  await postgres.stop();
  await spend(account, 10);
  await expect(away.flush()).rejects.toThrow();
  await postgres.start();
  await away.flush();
  await expectBooked(account, 13);
  expect(await away.rejected.countOpen()).toBe(0);
});
