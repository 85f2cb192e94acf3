// Tests that months of the request log are dropped as a whole, and only if no row can be added to
// them any more.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { bucketKeys, holdsKey } from "../../../actors/records/keys.ts";
import { usd } from "../../../src/core/money/money.ts";
import { AuditRepository } from "../../../src/store/audit/audit.ts";
import { LogIsBeingRead, LogUpkeep } from "../../../src/store/usage/log-upkeep.ts";
import {
  dropLogBefore,
  keepLogMonths,
  type RetentionDeps,
} from "../../../workers/log-retention.ts";
import { type JournalLab, openJournalLab } from "../../support/stores/journal-lab.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const CENT = usd("0.01");

let lab: JournalLab;
beforeEach(async () => {
  lab = await openJournalLab();
});
afterEach(() => lab[Symbol.asyncDispose]());

const deps = (more: Partial<RetentionDeps> = {}): RetentionDeps => ({
  upkeep: new LogUpkeep(lab.database),
  rejected: lab.rejected,
  redis: lab.redis,
  now: () => NOW_MS,
  flush: async () => {
    await lab.flush();
    return 0;
  },
  keepMonths: 2,
  ...more,
});

const monthOf = (month: number) => Date.UTC(2026, month - 1, 15);

async function months(): Promise<string[]> {
  const rows = await lab.database.sql`
    SELECT relname AS name FROM pg_class WHERE relname ~ '^request_log_2026[0-9]{2}$' ORDER BY 1`;
  return rows.map((row) => String(row.name).slice(-6));
}

/** An account with a call in each of these months, moved to Postgres. */
async function withCalls(...numbers: readonly number[]) {
  const account = await lab.account(1);
  for (const month of numbers)
    await account.call(CENT, { atMs: monthOf(month), month: 202_600 + month });
  await lab.flush();
  return account;
}

test("the months before one are dropped, detached ones too, and the ledger stays", async () => {
  const account = await withCalls(7, 8, 9, 10, 11);
  await lab.database.sql`ALTER TABLE request_log DETACH PARTITION request_log_202607`;
  const ledger = await account.ledger();
  expect(await dropLogBefore(deps(), "2026-09")).toEqual(["2026-07", "2026-08"]);
  expect(await months()).toEqual(["202609", "202610", "202611"]);
  expect(await account.log()).toHaveLength(3);
  expect(await account.ledger()).toEqual(ledger);
  expect(await dropLogBefore(deps(), "2026-09")).toEqual([]);
});

test("a dropped month is no audit finding", async () => {
  const { id } = await withCalls(8, 11);
  const repository = new AuditRepository(lab.database);
  const mismatch = () => repository.snapshot({ id, bucket: 1 }, (read) => read.logMismatch());
  expect(await mismatch()).toBeNull();
  await dropLogBefore(deps(), "2026-10");
  expect(await mismatch()).toBeNull();
  // The kept months are still compared.
  await lab.database.sql`DELETE FROM request_log`;
  expect(await mismatch()).toMatchObject({ logged: null });
});

test("this month, and one that ended less than a day ago, are refused", async () => {
  await withCalls(10, 11);
  await expect(dropLogBefore(deps(), "2026-12")).rejects.toThrow("2026-11 is not over");
  const firstOfMonth = deps({ now: () => Date.UTC(2026, 10, 1, 23) });
  await expect(dropLogBefore(firstOfMonth, "2026-11")).rejects.toThrow("less than a day ago");
  expect(await months()).toEqual(["202610", "202611"]);
});

test("nothing is dropped while mail of these months waits", async () => {
  const { id } = await withCalls(8);
  await lab.database.sql`
    INSERT INTO mail_messages (id, account, request, hold, recipients, domains, created_at)
    SELECT gen_random_uuid(), number, gen_random_uuid(), '{}', 1, '{}', '2026-08-20'
    FROM accounts WHERE id = ${id}`;
  await expect(dropLogBefore(deps(), "2026-09")).rejects.toThrow("mail of these months waits");
  expect(await months()).toEqual(["202608"]);
});

test("nothing is dropped while calls of a process that died then are unsettled", async () => {
  await withCalls(8);
  const { leases } = bucketKeys(7);
  await lab.redis.hset(leases, "proc_dead", String(Date.UTC(2026, 7, 31, 23)));
  await lab.redis.hset(holdsKey(7, "proc_dead"), "req_1", "a hold");
  await expect(dropLogBefore(deps(), "2026-09")).rejects.toThrow("a process that died");
  await lab.redis.del(leases, holdsKey(7, "proc_dead"));
  expect(await dropLogBefore(deps(), "2026-09")).toEqual(["2026-08"]);
});

test("nothing is dropped while the journal does not fit or entries were rejected", async () => {
  await withCalls(8);
  const conflicts = deps({ flush: async () => 1 });
  await expect(dropLogBefore(conflicts, "2026-09")).rejects.toThrow("the journal could not");
  const rejected = deps({ rejected: { countOpen: async () => 1 } });
  await expect(dropLogBefore(rejected, "2026-09")).rejects.toThrow("farebox journal rejected");
  expect(await months()).toEqual(["202608"]);
});

test("a reader of the log is waited for only briefly, and nothing is dropped", async () => {
  await withCalls(7, 8);
  await lab.database.sql.begin(async (tx) => {
    await tx`SELECT count(*) FROM request_log`;
    await expect(dropLogBefore(deps(), "2026-09")).rejects.toThrow(LogIsBeingRead);
  });
  expect(await months()).toEqual(["202607", "202608"]);
});

test("the worker keeps the configured months, and all of them without the setting", async () => {
  await withCalls(7, 8, 9, 10, 11);
  expect(await keepLogMonths(deps({ keepMonths: 0 }))).toEqual([]);
  expect(await keepLogMonths(deps({ keepMonths: 2 }))).toEqual(["2026-07", "2026-08"]);
  expect(await months()).toEqual(["202609", "202610", "202611"]);
});
