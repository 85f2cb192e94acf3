// Tests that a backlog of more than one page in several buckets is moved by two transactions at a
// time.

import { expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { type BucketBatch, Ledger, type WriteOutcome } from "../../../src/store/ledger/ledger.ts";
import { closedGate } from "../../support/gate.ts";
import { shared } from "../../support/shared.ts";
import { type LabAccount, openJournalLab } from "../../support/stores/journal-lab.ts";

const lab = await shared(openJournalLab());
const CENT = usd("0.01");
/** A little more than two pages. */
const CALLS = 2_100;
const AWAY = new Error("Postgres is away");

let bucket = 0;

async function accountsWithBacklog(count: number): Promise<LabAccount[]> {
  const accounts = await Promise.all(
    Array.from({ length: count }, () => lab.account(bucket++, usd("100"))),
  );
  // Redis takes them in the order in which they are sent.
  const spend = (account: LabAccount) => Array.from({ length: CALLS }, () => account.call(CENT));
  await Promise.all(accounts.flatMap(spend));
  return accounts;
}

async function booked(account: LabAccount): Promise<number> {
  const rows = await account.ledger();
  expect(rows.map(({ seq }) => Number(seq))).toEqual(rows.map((_, index) => index + 1));
  return rows.length;
}

test("one flush moves a backlog whole, by at most two transactions at a time", async () => {
  const accounts = await accountsWithBacklog(3);
  let underWay = 0;
  let most = 0;
  class Counting extends Ledger {
    override async write(batches: readonly BucketBatch[]): Promise<WriteOutcome> {
      underWay += 1;
      most = Math.max(most, underWay);
      try {
        return await super.write(batches);
      } finally {
        underWay -= 1;
      }
    }
  }
  const entries = 3 * (CALLS + 1);
  expect(await lab.flush({ ledger: new Counting(lab.database) })).toBe(entries);
  for (const account of accounts) {
    expect(await booked(account)).toBe(CALLS + 1);
    expect(await account.spent()).toBe(BigInt(CALLS) * CENT);
  }
  expect(most).toBe(2);
});

test("a flush that fails has ended only when all of its transactions have", async () => {
  const [kept, failing] = await accountsWithBacklog(2);
  const writing = closedGate();
  const released = closedGate();
  class HalfAway extends Ledger {
    override async write(batches: readonly BucketBatch[]): Promise<WriteOutcome> {
      // The first page of both buckets is one transaction.
      if (batches.length === 2) return await super.write(batches);
      if (batches[0]?.bucket === failing?.bucket) {
        await writing.pass();
        throw AWAY;
      }
      writing.open();
      await released.pass();
      return await super.write(batches);
    }
  }
  let hasEnded = false;
  const flush = lab.flush({ ledger: new HalfAway(lab.database) }).finally(() => {
    hasEnded = true;
  });
  await writing.pass();
  // Longer than a failure takes to arrive: a round trip to each store.
  await lab.redis.ping();
  await lab.database.sql`SELECT 1`;
  expect(hasEnded).toBe(false);
  released.open();
  await expect(flush).rejects.toBe(AWAY);
  if (kept === undefined || failing === undefined) throw new Error("There are no accounts");
  expect(await booked(kept)).toBe(CALLS + 1);
  expect(await booked(failing)).toBeLessThan(CALLS);
  await lab.flush();
  expect(await booked(failing)).toBe(CALLS + 1);
});
