// Checks the invariants of Postgres and of a wallet while no call or flush is in progress.

import { expect } from "bun:test";
import type { Wallet } from "../../../actors/records/records.ts";
import { sweep } from "../../../actors/scripts/call-scripts.ts";
import {
  type LedgerKind,
  NOTHING_COUNTED,
  outcomeText,
} from "../../../src/core/journal/journal.ts";
import { add, type NanoUsd } from "../../../src/core/money/money.ts";
import { findWrongUsage } from "../../../src/store/usage/usage-repair.ts";
import type { TestAccount } from "./accounts.ts";
import { type World, walletOf } from "./world.ts";

export interface LedgerRow {
  readonly account: bigint;
  readonly seq: bigint;
  readonly kind: LedgerKind;
  readonly paid_delta: bigint;
  readonly free_delta: bigint;
  readonly paid_after: bigint;
  readonly free_after: bigint;
  readonly owed_after: bigint;
  readonly month: number | null;
  readonly operation: number | null;
}

export async function ledgerOf(world: World, account: TestAccount): Promise<LedgerRow[]> {
  return await world.database.sql<LedgerRow[]>`
    SELECT * FROM ledger_entries WHERE account = ${account.row.number} ORDER BY seq`;
}

export interface LogEntry {
  readonly cost: bigint;
  readonly status: number;
  readonly error_code: string | null;
  readonly requests: number;
}

export async function logOf(world: World, account: TestAccount): Promise<LogEntry[]> {
  return await world.database.sql<LogEntry[]>`
    SELECT * FROM request_log WHERE account = ${account.row.number} ORDER BY at, status`;
}

/** Kinds whose rows may change the owed amount. */
const OF_DEBTS: ReadonlySet<LedgerKind> = new Set(["reversal", "forgiven", "repayment"]);

/** Returns the fault of a ledger, or null: numbers from 1, balances that add up, none negative. */
export function faultOf(rows: readonly LedgerRow[]): string | null {
  let [seq, paid, free, owed] = [0n, 0n, 0n, 0n];
  for (const row of rows) {
    seq += 1n;
    paid += row.paid_delta;
    free += row.free_delta;
    if (row.seq !== seq) return `seq ${row.seq} stands where ${seq} should`;
    if (row.paid_after !== paid || row.free_after !== free) return `seq ${seq} does not add up`;
    if (paid < 0n || free < 0n || row.owed_after < 0n) return `seq ${seq} is negative`;
    if (row.owed_after !== owed && !OF_DEBTS.has(row.kind)) return `seq ${seq} changes the debt`;
    owed = row.owed_after;
  }
  return null;
}

/** The total of an account: both balances and the held amounts. */
function totalOf({ paid, free, heldPaid, heldFree }: Wallet): NanoUsd {
  return add(paid, free, heldPaid, heldFree);
}

/** Flushes, then compares ledger, log and wallet: I1, I2, I7, I8 and I25 of an account. */
export async function expectSound(world: World, account: TestAccount): Promise<void> {
  await world.flush();
  const rows = await ledgerOf(world, account);
  expect(faultOf(rows)).toBeNull();
  const last = rows.at(-1);
  const wallet = await walletOf(account);
  expect(totalOf(wallet) as bigint).toBe((last?.paid_after ?? 0n) + (last?.free_after ?? 0n));
  expect(wallet.owed as bigint).toBe(last?.owed_after ?? 0n);
  const [sums] = await world.database.sql`
    SELECT coalesce(sum(cost), 0)::text AS logged,
      (SELECT coalesce(-sum(paid_delta + free_delta), 0)::text FROM ledger_entries
        WHERE account = ${account.row.number} AND kind IN ('charge', 'late_charge')) AS charged,
      count(*) - count(DISTINCT request) AS repeated
    FROM request_log WHERE account = ${account.row.number}`;
  expect(sums?.logged).toBe(sums?.charged);
  expect(sums?.repeated).toBe(0n);
  expect(await findWrongUsage(world.database.sql, account.row)).toBeNull();
}

const SWEPT = {
  status: 500,
  errorCode: "internal_error",
  latencyMs: 0,
  ...NOTHING_COUNTED,
};

/**
 * Sweeps one call as the worker does; of the world's own process unless another process is named.
 */
export function sweepOne(
  world: World,
  account: TestAccount,
  requestId: string,
  owner = world.accounts.leases.owner,
) {
  return world.accounts.scripts.run(sweep, {
    nowMs: world.accounts.deps.scriptTime?.() ?? 0,
    account: account.row.id,
    keys: account.actor.keys,
    keyId: account.keyId,
    requestId,
    owner,
    hasBudgets: account.hasBudgets,
    marker: null,
    outcome: outcomeText(SWEPT),
  });
}
