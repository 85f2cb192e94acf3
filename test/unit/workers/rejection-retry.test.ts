// Tests that `farebox journal rejected --retry` writes refused entries once nothing contradicts
// them, and never puts money where the ledger has no place for it.

import { beforeEach, expect, test } from "bun:test";
import { journalCommands } from "../../../src/cli/operation/journal-commands.ts";
import type { Stores } from "../../../src/cli/stores.ts";
import { DAY_MS } from "../../../src/core/durations.ts";
import { newTimedId } from "../../../src/core/ids.ts";
import { metadataText, outcomeText } from "../../../src/core/journal/journal.ts";
import { nano, usd } from "../../../src/core/money/money.ts";
import { readLogMismatch } from "../../../src/store/audit/log-audit.ts";
import { LogUpkeep } from "../../../src/store/usage/log-upkeep.ts";
import { repairMargins } from "../../../src/store/usage/margin-repair.ts";
import { findWrongUsage } from "../../../src/store/usage/usage-repair.ts";
import { expireIpHashes } from "../../../workers/ip-hash-expiry.ts";
import { random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import {
  AT_MS,
  type LabAccount,
  METADATA,
  OUTCOME,
  openJournalLab,
  putUnderEpoch,
} from "../../support/stores/journal-lab.ts";

const lab = await shared(openJournalLab());
beforeEach(async () => {
  await lab.database.sql`DELETE FROM rejected_entries`;
});

const CENT = usd("0.01");
const NO_ROW = "The request log has no row that this late settlement corrects";
let bucket = 0;
const nextAccount = () => lab.account(bucket++);

/** The command as the tool runs it. */
async function run(...flags: readonly "retry"[]) {
  const [command] = journalCommands;
  if (command === undefined) throw new Error("There is no command");
  const values = new Map(flags.map((flag) => [flag, ""]));
  const start = command.prepare({ positionals: [], values, json: false, nowMs: 0 });
  return await start({ database: lab.database } as Stores);
}

/** Makes Postgres refuse the rows of a table for which a condition holds, until it is undone. */
async function refuseRows(table: string, condition: string): Promise<() => Promise<unknown>> {
  const { sql } = lab.database;
  await sql.unsafe(`ALTER TABLE ${table} ADD CONSTRAINT odd CHECK (NOT (${condition})) NOT VALID`);
  return () => sql.unsafe(`ALTER TABLE ${table} DROP CONSTRAINT odd`);
}

async function refusedEntry(account: LabAccount): Promise<() => Promise<unknown>> {
  await account.call(CENT);
  const undo = await refuseRows("ledger_entries", "paid_delta = -7");
  await account.call(nano(7n));
  await account.call(CENT);
  await lab.flush();
  return undo;
}

test("nothing is listed while nothing is rejected", async () => {
  expect(await run()).toEqual({
    json: { open: [] },
    text: "There are no rejected journal entries.",
  });
});

test("a refused ledger row takes exactly its place once Postgres takes it", async () => {
  const account = await nextAccount();
  const undo = await refusedEntry(account);
  expect(await account.ledger()).toHaveLength(3);
  const listed = await run();
  expect(listed.json).toMatchObject({
    open: [{ bucket: account.bucket, epoch: 1, entry: 2, account: account.id, seq: 3 }],
  });
  expect(listed.text).toContain("23514 odd");
  const refused = await run("retry");
  expect(refused).toMatchObject({ failed: true, json: { resolved: [] } });
  await undo();
  const done = await run("retry");
  expect(done).toMatchObject({ failed: false, text: "1 of 1 rejected entries were written." });
  const rows = await account.ledger();
  expect(rows.map(({ seq }) => Number(seq))).toEqual([1, 2, 3, 4]);
  expect(await account.log()).toHaveLength(3);
  expect(await account.spent()).toBe(2n * CENT + 7n);
  expect(await lab.rejected.countOpen()).toBe(0);
  expect(await run("retry")).toMatchObject({ failed: false, json: { resolved: [], open: [] } });
});

test("a log row alone is written without changing the money, in any epoch", async () => {
  const account = await nextAccount();
  const undo = await refuseRows("request_log", "model = 'odd'");
  await account.call(CENT, { metadata: metadataText({ ...METADATA, model: "odd" }) });
  await lab.flush();
  expect(await account.log()).toHaveLength(0);
  await undo();
  await putUnderEpoch(lab, account.bucket, 2);
  expect(await run("retry")).toMatchObject({ failed: false });
  expect(await account.log()).toMatchObject([{ model: "odd", cost: BigInt(CENT) }]);
  expect(await account.ledger()).toHaveLength(2);
  expect(await account.spent()).toBe(BigInt(CENT));
});

/** Requires that ledger, log, and the sums of the log agree. */
async function expectRight({ number, id }: LabAccount): Promise<void> {
  const { database } = lab;
  expect(await readLogMismatch(database.db, number, id)).toBeNull();
  expect(await findWrongUsage(database.sql, { id, number })).toBeNull();
  expect(await repairMargins(database)).toBe(0);
}

const LATE_COSTS = { more: CENT, less: nano(-4n), "the same": nano(0n) };

for (const [name, cost] of Object.entries(LATE_COSTS)) {
  for (const flushes of [1, 2]) {
    test(`an expired call that cost ${name} is corrected late, in ${flushes} flushes`, async () => {
      const account = await nextAccount();
      const undo = await refuseRows("request_log", "error_code = 'hold_expired'");
      const request = newTimedId("request", random, AT_MS);
      const { lane: _, ...unserved } = OUTCOME;
      const swept = outcomeText({ ...unserved, status: 500, errorCode: "hold_expired" });
      await account.call(nano(7n), { type: "expired", request, outcome: swept, held: usd("0.02") });
      if (flushes === 2) await lab.flush();
      const outcome = outcomeText({ ...OUTCOME, upstreamCost: nano(3n) });
      const late = { type: "late", request, outcome } as const;
      // A correction without money has no number in the ledger.
      if (cost === 0n) await account.call(cost, { ...late, seq: null });
      else await account.call(cost, late);
      await lab.flush();
      expect(await account.log()).toHaveLength(0);
      expect(await account.spent()).toBe(7n + cost);
      expect((await run()).json).toMatchObject({
        open: [{ reason: expect.stringContaining("odd") }, { reason: NO_ROW }],
      });
      await expectRight(account);

      expect(await run("retry")).toMatchObject({ failed: true, json: { resolved: [] } });
      await expectRight(account);
      await undo();
      expect(await run("retry")).toMatchObject({ failed: false });
      const log = { cost: 7n + cost, status: 200, error_code: null, lane: "main" };
      expect(await account.log()).toMatchObject([{ ...log, upstream_cost: 3n }]);
      expect(await account.ledger()).toHaveLength(cost === 0n ? 2 : 3);
      expect(await account.spent()).toBe(7n + cost);
      await expectRight(account);
      expect(await run("retry")).toMatchObject({ failed: false, json: { resolved: [], open: [] } });
    });
  }
}

test("money of a bucket that was rebuilt since is not written", async () => {
  const account = await nextAccount();
  const undo = await refusedEntry(account);
  await undo();
  await putUnderEpoch(lab, account.bucket, 2);
  const answer = await run("retry");
  expect(answer.failed).toBe(true);
  expect(answer.text).toContain("The bucket was rebuilt without this entry");
  expect(await account.ledger()).toHaveLength(3);
});

test("money whose place another entry took is not written", async () => {
  const account = await nextAccount();
  await account.call(CENT);
  const undo = await refuseRows("ledger_entries", "paid_delta = -7");
  await account.call(nano(7n));
  await lab.flush();
  await undo();
  // The wallet left Redis and was rebuilt from the ledger.
  account.seq -= 1;
  account.paid += 7n;
  await account.call(CENT);
  await lab.flush();
  const answer = await run("retry");
  expect(answer.text).toContain("The ledger has another entry 3");
  expect(await account.ledger()).toHaveLength(3);
  expect(lab.rebuilt).toEqual([]);
});

test("a balance below zero stays open after every retry", async () => {
  const account = await nextAccount();
  await account.call(CENT, { paidAfter: nano(-5n) });
  await lab.flush();
  const answer = await run("retry");
  expect(answer.failed).toBe(true);
  expect(answer.text).toContain("ledger_never_negative");
});

test.each([
  [["x", "2-3"], "BUCKET must be a number, not 'x'"],
  [["1", "3"], "ENTRY must be an epoch and a number, such as 2-305, not '3'"],
])("to set %j aside is refused: %s", (positionals, message) => {
  const values = new Map([["reason", "it cannot be written"]]);
  const input = { positionals, values, json: false, nowMs: 0 };
  expect(() => journalCommands[1]?.prepare(input)).toThrow(message);
});

test("a log row that is written after its hashes were cleared has none", async () => {
  const account = await nextAccount();
  const undo = await refuseRows("request_log", "model = 'odd'");
  const metadata = metadataText({ ...METADATA, model: "odd" });
  const atMs = Date.now() - 200 * DAY_MS;
  await account.call(CENT, { atMs, metadata });
  await lab.flush();
  const upkeep = new LogUpkeep(lab.database);
  await expireIpHashes({ upkeep, now: Date.now });
  await undo();
  expect(await run("retry")).toMatchObject({ failed: false });
  await expireIpHashes({ upkeep, now: Date.now });
  const [row] = await lab.database.sql`
    SELECT country, ip_hash FROM request_log WHERE model = 'odd'
    ORDER BY at LIMIT 1`;
  expect(row).toEqual({ country: "DE", ip_hash: null });
});
