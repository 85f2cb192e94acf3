// Tests that pending work is found by its own index, however many accounts have none.

import { beforeAll, expect, test } from "bun:test";
import { nano } from "../../../../src/core/money/money.ts";
import {
  accountsWithExpiredCredit,
  endSpentFreeCredit,
  PendingWork,
  unappliedAccounts,
} from "../../../../src/store/accounts/pending-work.ts";
import {
  allOwed,
  countOpenDisputes,
  openDisputes,
  sumOwed,
} from "../../../../src/store/audit/payment-audit.ts";
import { shared } from "../../../support/shared.ts";
import { planOf } from "../../../support/stores/plans.ts";
import { openTestDatabase } from "../../../support/stores/test-database.ts";

const ACCOUNTS = 20_000;
const NOW = new Date("2031-03-15T12:00:00.000Z");

const { database } = await shared(openTestDatabase());
beforeAll(async () => {
  const { sql } = database;
  // Each account has ended free credit, wholly spent, and a payment; Redis has got all of it.
  await sql`
    INSERT INTO accounts (id, surface, bucket, version, applied_version)
    SELECT 'acct_' || n, 'gateway', n % 64, 3, 3 FROM generate_series(1, ${ACCOUNTS}) n`;
  await sql`
    INSERT INTO operations
      (account, number, kind, balance, amount, expires_at, created_at, booked, ended)
    SELECT number, 1, 'credit', 'free', 5000000000, '2031-01-01'::timestamptz, '2030-10-01',
      true, true
    FROM accounts`;
  await sql`
    INSERT INTO operations (account, number, kind, balance, amount, created_at, booked)
    SELECT number, 2, 'credit', 'paid', 1000000000, '2030-11-01', true FROM accounts`;
  await sql`
    INSERT INTO ledger_entries (account, seq, kind, paid_delta, free_delta, paid_after, free_after,
      operation, at)
    SELECT number, 1, 'credit', 0, 5000000000, 0, 5000000000, 1, '2030-10-01'::timestamptz
    FROM accounts`;
  await sql`
    INSERT INTO ledger_entries (account, seq, kind, paid_delta, free_delta, paid_after, free_after,
      at)
    SELECT number, 2, 'free_expired', 0, -5000000000, 0, 0, '2031-01-01'::timestamptz
    FROM accounts`;
  await sql`VACUUM ANALYZE accounts, operations, ledger_entries`;
});

const STATEMENTS = [
  [
    "unapplied",
    () => unappliedAccounts(database.sql, NOW),
    ["accounts_unapplied", "operations_unbooked"],
  ],
  ["spent credit", () => endSpentFreeCredit(database.sql, NOW), ["operations_running"]],
  ["expired credit", () => accountsWithExpiredCredit(database.sql, NOW), ["operations_running"]],
] as const;

async function expectIndexed(rowsMax: number): Promise<void> {
  for (const [name, statement, indexes] of STATEMENTS) {
    const plan = await planOf(database, statement());
    const scanned = plan.filter((node) => node["Node Type"] === "Seq Scan");
    expect([name, scanned]).toEqual([name, []]);
    const used = plan.map((node) => node["Index Name"]);
    for (const index of indexes) expect(used).toContain(index);
    expect(Math.max(...plan.map((node) => node["Actual Rows"]))).toBeLessThanOrEqual(rowsMax);
  }
}

test("no unfinished work among 20,000 accounts is found without reading them", async () => {
  await expectIndexed(0);
  const pendingWork = new PendingWork(database);
  expect(await pendingWork.unapplied(NOW)).toEqual([]);
  expect(await pendingWork.withExpiredFreeCredit(NOW)).toEqual([]);
});

test("a few unfinished accounts among 20,000 accounts are found by their indexes", async () => {
  const { sql } = database;
  await sql`UPDATE accounts SET version = 4 WHERE number <= 20`;
  await sql`UPDATE operations SET booked = false WHERE account BETWEEN 11 AND 30 AND number = 2`;
  await sql`UPDATE operations SET ended = false WHERE account BETWEEN 31 AND 60 AND number = 1`;
  // Of twenty of these something is left, of which ten have other free credit that goes on.
  await sql`
    INSERT INTO ledger_entries (account, seq, kind, paid_delta, free_delta, paid_after, free_after,
      at)
    SELECT n, 3, 'credit', 0, 7, 0, 7, ${NOW.toISOString()}::text::timestamptz
    FROM generate_series(31, 50) n`;
  await sql`
    INSERT INTO operations (account, number, kind, balance, amount, expires_at, booked)
    SELECT n, 3, 'credit', 'free', 7, '2031-06-01'::timestamptz, true
    FROM generate_series(41, 50) n`;
  const pendingWork = new PendingWork(database);
  const numbers = (places: readonly { readonly id: string }[]) =>
    places.map(({ id }) => Number(id.slice(5))).sort((a, b) => a - b);
  const range = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index);
  expect(numbers(await pendingWork.unapplied(NOW))).toEqual(range(1, 30));
  await expectIndexed(60);
  expect(numbers(await pendingWork.withExpiredFreeCredit(NOW))).toEqual(range(31, 50));
  const running = await sql`SELECT account FROM operations WHERE balance = 'free' AND NOT ended`;
  expect(running).toHaveLength(30);
});

test("the metrics of disputes and debts read no other of 20,000 payments", async () => {
  const { sql } = database;
  await sql`
    INSERT INTO payments (id, account, amount, paid_at, refunded, dispute)
    SELECT 'pay_' || number, number, 1000000000, '2030-11-01'::timestamptz,
      CASE WHEN number % 2000 = 1 THEN 1000000000 ELSE 0 END,
      CASE WHEN number % 2000 = 2 THEN 'open' END
    FROM accounts`;
  await sql`VACUUM ANALYZE payments`;
  expect(await countOpenDisputes(database)).toBe(10);
  expect(await sumOwed(database)).toBe(nano(0n));
  for (const [name, statement] of [
    ["disputes", openDisputes(sql)],
    ["debts", allOwed(sql)],
  ] as const) {
    const plan = await planOf(database, statement);
    const scanned = plan.filter((node) => node["Node Type"] === "Seq Scan");
    expect([name, scanned]).toEqual([name, []]);
    expect(plan.map((node) => node["Index Name"])).toContain("payments_reversed");
  }
});
