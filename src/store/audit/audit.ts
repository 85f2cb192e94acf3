// Reads Postgres for an audit: each account in one snapshot, its ledger as a stream.

import { asc, eq, gt, sql } from "drizzle-orm";
import type { AccountState } from "../../core/access/account-states.ts";
import { parseBudgetRefs } from "../../core/access/budgets.ts";
import { fromUuid } from "../../core/ids.ts";
import type { AuditFinding } from "../../core/journal/audit-finding.ts";
import type { LedgerKind, OperationKind } from "../../core/journal/journal.ts";
import type {
  LedgerReplay,
  ReplayEntry,
  ReplayOperation,
} from "../../core/journal/ledger-replay.ts";
import type { AccountRef } from "../accounts/accounts.ts";
import { readDocument } from "../accounts/documents.ts";
import { readKeyIds } from "../accounts/wallet-repository.ts";
import type { BucketCursor } from "../ledger/journal-cursors.ts";
import { type Payment, readPayments } from "../payments/payments.ts";
import type { Database } from "../servers/database.ts";
import type { Queries } from "../servers/transaction.ts";
import { accounts } from "../tables/account-schema.ts";
import { journalCursors } from "../tables/schema.ts";
import type { UsageTotals } from "../usage/usage-repair.ts";
import { readBookMismatches } from "./books-audit.ts";
import { type BudgetMismatch, readBudgetMismatch } from "./budget-audit.ts";
import { type LogMismatch, readLogMismatch, readTotals } from "./log-audit.ts";

/** A rejected journal entry of the account that is not written to Postgres. */
export interface RejectedEntry {
  readonly bucket: number;
  readonly epoch: number;
  readonly entry: number;
  /** The number of the entry in the account's ledger; null for an entry without money. */
  readonly seq: number | null;
  readonly reason: string;
  readonly ledgerWritten: boolean;
  /**
   * True if the ledger lacks its number because of it. After a rebuild without it, the number goes
   * to the next entry.
   */
  readonly isHole: boolean;
  /** True if an operator has given up writing it. */
  readonly isSetAside: boolean;
  /** The entry's bytes in the stream. */
  readonly content: Buffer;
}

/** An account as Postgres had it at one instant. */
export interface AuditSnapshot {
  readonly cursor: BucketCursor;
  readonly nowMs: number;
  readonly state: AccountState;
  readonly stateReason: string | null;
  readonly version: number;
  /** The version of the document that Redis is known to have. */
  readonly appliedVersion: number;
  readonly document: string;
  readonly operations: readonly ReplayOperation[];
  readonly payments: readonly Payment[];
  readonly rejected: readonly RejectedEntry[];
  /** The ids of all keys, revoked ones too. */
  readonly keyIds: readonly string[];
  /** Spending by `202611 key_…`. */
  readonly spending: ReadonlyMap<string, bigint>;
  /** The ledger in order, page by page. The pages can be read only once. */
  ledger(): AsyncGenerator<ReplayEntry[]>;
  /** The first span of a budget whose spending differs from the charges of the ledger. */
  budgetMismatch(ledger: Pick<LedgerReplay, "namesBudgets">): Promise<BudgetMismatch | null>;
  /** The first call whose cost in the log differs from its charge in the ledger. */
  logMismatch(): Promise<LogMismatch | null>;
  /** The totals of the account in the ledger, the log and the sums of the log. */
  usageTotals(): Promise<UsageTotals>;
}

/** Rows that belong to no account. */
export interface Orphan {
  readonly table: string;
  readonly account: number;
}

const ACCOUNTS_PER_PAGE = 500;
const ENTRIES_PER_PAGE = 5_000;

export class AuditRepository {
  constructor(readonly database: Database) {}

  /** All accounts in the order of their numbers, page by page. */
  async *listAccounts(): AsyncGenerator<AccountRef[]> {
    let after = 0;
    for (;;) {
      const rows = await this.database.db
        .select({ id: accounts.id, bucket: accounts.bucket, number: accounts.number })
        .from(accounts)
        .where(gt(accounts.number, after))
        .orderBy(asc(accounts.number))
        .limit(ACCOUNTS_PER_PAGE);
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.number;
      yield rows;
    }
  }

  /** Null if there is no such account. */
  async findAccount(accountId: string): Promise<AccountRef | null> {
    const [row] = await this.database.db
      .select({ id: accounts.id, bucket: accounts.bucket })
      .from(accounts)
      .where(eq(accounts.id, accountId));
    return row ?? null;
  }

  /** The cursor of each bucket. */
  async cursors(): Promise<BucketCursor[]> {
    return await this.database.db.select().from(journalCursors).orderBy(journalCursors.bucket);
  }

  /** Calls `read` with a snapshot of the account, all of it as of one instant. */
  async snapshot<T>(
    account: AccountRef,
    read: (snapshot: AuditSnapshot) => Promise<T>,
  ): Promise<T> {
    return await this.database.db.transaction(async (tx) => read(await openSnapshot(tx, account)), {
      isolationLevel: "repeatable read",
      accessMode: "read only",
    });
  }

  /** The first fact of each account about which two tables, or a row and its digest, disagree. */
  async bookMismatches(of: readonly AccountRef[]): Promise<ReadonlyMap<string, AuditFinding>> {
    return await readBookMismatches(
      this.database,
      of.map(({ id }) => id),
    );
  }

  /** Rejected entries whose account is unknown. */
  async unattributed(): Promise<RejectedEntry[]> {
    const rows = await this.database.db.execute<RejectedColumns>(sql`
      SELECT bucket, epoch::text, entry::text, seq::text, reason, ledger_written,
        false AS is_hole, false AS is_set_aside, '' AS content
      FROM rejected_entries r WHERE resolved_at IS NULL AND set_aside_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = r.account)
      ORDER BY bucket, epoch, entry`);
    return rows.map(rejectedOf);
  }

  /** The first row of the ledger or of the spending that belongs to no account. */
  async orphan(): Promise<Orphan | null> {
    const rows = await this.database.db.execute<{ table: string; account: string }>(sql`
      SELECT 'ledger_entries' AS table, account::text FROM ledger_entries l
        WHERE NOT EXISTS (SELECT 1 FROM accounts a WHERE a.number = l.account)
      UNION ALL
      SELECT 'budget_spend' AS table, account::text FROM budget_spend b
        WHERE NOT EXISTS (SELECT 1 FROM accounts a WHERE a.number = b.account)
      UNION ALL
      SELECT 'month_spend' AS table, account::text FROM month_spend m
        WHERE NOT EXISTS (SELECT 1 FROM accounts a WHERE a.number = m.account)
      LIMIT 1`);
    const [row] = rows;
    return row === undefined ? null : { table: row.table, account: Number(row.account) };
  }
}

async function openSnapshot(tx: Queries, { id, bucket }: AccountRef): Promise<AuditSnapshot> {
  const [cursor] = await tx.select().from(journalCursors).where(eq(journalCursors.bucket, bucket));
  const stored = await readDocument(tx, id);
  if (cursor === undefined || stored === null) throw new Error(`Account ${id} is gone`);
  const { account } = stored;
  const [facts] = await tx
    .select({
      nowMs: sql<string>`(extract(epoch FROM now()) * 1000)::bigint::text`,
      appliedVersion: accounts.appliedVersion,
      state: accounts.state,
      stateReason: accounts.stateReason,
    })
    .from(accounts)
    .where(eq(accounts.number, account));
  if (facts === undefined) throw new Error(`Account ${id} is gone`);
  return {
    cursor,
    ...facts,
    nowMs: Number(facts.nowMs),
    version: stored.version,
    document: stored.document,
    operations: await readOperations(tx, account),
    payments: await readPayments(tx, account),
    rejected: await readRejected(tx, { id, account, epoch: cursor.epoch }),
    keyIds: await readKeyIds(tx, account),
    spending: await readSpending(tx, account),
    ledger: () => readLedger(tx, account),
    budgetMismatch: ({ namesBudgets }) =>
      readBudgetMismatch(tx, account, { namesBudgets, nowMs: Number(facts.nowMs) }),
    logMismatch: () => readLogMismatch(tx, account, id),
    usageTotals: () => readTotals(tx, account),
  };
}

async function readOperations(tx: Queries, account: number): Promise<ReplayOperation[]> {
  const rows = await tx.execute<Record<string, string | null>>(sql`
    SELECT o.number::text, o.kind, o.balance, p.id AS payment,
      CASE WHEN o.set_aside_at IS NULL THEN o.amount ELSE 0 END::text AS amount,
      (o.set_aside_at IS NOT NULL AND o.replaced_by IS NULL)::text AS is_set_aside,
      CASE WHEN o.set_aside_at IS NULL
        THEN floor(extract(epoch FROM o.expires_at) * 1000)::bigint::text END AS expires,
      floor(extract(epoch FROM o.created_at) * 1000)::bigint::text AS created
    FROM operations o LEFT JOIN payments p ON p.number = o.payment AND p.account = o.account
    WHERE o.account = ${account} ORDER BY o.number`);
  return rows.map((row) => ({
    number: Number(row.number),
    kind: row.kind as OperationKind,
    balance: row.balance === "paid" ? "paid" : "free",
    amount: BigInt(row.amount ?? 0),
    expiresAtMs: row.expires === null ? null : Number(row.expires),
    createdAtMs: Number(row.created),
    payment: row.payment ?? null,
    isSetAside: row.is_set_aside === "true",
  }));
}

interface RejectedColumns extends Record<string, unknown> {
  readonly bucket: number;
  readonly epoch: string;
  readonly entry: string;
  readonly seq: string | null;
  readonly reason: string;
  readonly ledger_written: boolean;
  readonly is_hole: boolean;
  readonly is_set_aside: boolean;
  readonly content: string;
}

/** Reads the rejected entries of an account; `epoch` is the epoch in force. */
async function readRejected(
  tx: Queries,
  { id, account, epoch }: { readonly id: string; readonly account: number; readonly epoch: number },
): Promise<RejectedEntry[]> {
  const rows = await tx.execute<RejectedColumns>(sql`
    SELECT bucket, epoch::text, entry::text, seq::text, reason, ledger_written,
      seq IS NOT NULL AND NOT ledger_written
        AND NOT EXISTS (SELECT FROM ledger_entries l
          WHERE l.account = ${account} AND l.seq = r.seq)
        AND (epoch = ${epoch} OR EXISTS (SELECT FROM ledger_entries l
          WHERE l.account = ${account} AND l.seq > r.seq)) AS is_hole,
      set_aside_at IS NOT NULL AS is_set_aside,
      encode(content, 'hex') AS content
    FROM rejected_entries r WHERE account = ${id} AND resolved_at IS NULL
    ORDER BY epoch, entry`);
  return rows.map(rejectedOf);
}

function rejectedOf(row: RejectedColumns): RejectedEntry {
  return {
    bucket: row.bucket,
    epoch: Number(row.epoch),
    entry: Number(row.entry),
    seq: row.seq === null ? null : Number(row.seq),
    reason: row.reason,
    ledgerWritten: row.ledger_written,
    isHole: row.is_hole,
    isSetAside: row.is_set_aside,
    content: Buffer.from(row.content, "hex"),
  };
}

async function readSpending(tx: Queries, account: number): Promise<Map<string, bigint>> {
  const rows = await tx.execute<{ row: string; spent: string }>(sql`
    SELECT m.month || ' ' || coalesce(k.id, 'key number ' || m.key) AS row, m.spent::text
    FROM month_spend m LEFT JOIN keys k ON k.number = m.key AND k.account = m.account
    WHERE m.account = ${account}`);
  return new Map(rows.map(({ row, spent }) => [row, BigInt(spent)]));
}

/** Uses a cursor of Postgres, so that only one page of the ledger is in memory. */
async function* readLedger(tx: Queries, account: number): AsyncGenerator<ReplayEntry[]> {
  await tx.execute(sql`
    DECLARE audited NO SCROLL CURSOR FOR
    SELECT l.seq::text, l.kind, l.paid_delta::text, l.free_delta::text, l.paid_after::text,
      l.free_after::text, l.owed_after::text, l.request::text, k.id AS key, l.month::text,
      l.operation::text, l.budgets,
      (extract(epoch FROM l.at) * 1000)::bigint::text AS at
    FROM ledger_entries l LEFT JOIN keys k ON k.number = l.key AND k.account = l.account
    WHERE l.account = ${account} ORDER BY l.seq`);
  for (;;) {
    const rows = await tx.execute<Record<string, string | null>>(
      sql`FETCH FORWARD ${sql.raw(String(ENTRIES_PER_PAGE))} FROM audited`,
    );
    if (rows.length > 0) yield rows.map(entryOf);
    if (rows.length < ENTRIES_PER_PAGE) break;
  }
  await tx.execute(sql`CLOSE audited`);
}

function entryOf(row: Record<string, string | null>): ReplayEntry {
  const optional = (text: string | null | undefined) => (text ? Number(text) : null);
  return {
    seq: Number(row.seq),
    kind: row.kind as LedgerKind,
    paidDelta: BigInt(row.paid_delta ?? 0),
    freeDelta: BigInt(row.free_delta ?? 0),
    paidAfter: BigInt(row.paid_after ?? 0),
    freeAfter: BigInt(row.free_after ?? 0),
    owedAfter: BigInt(row.owed_after ?? 0),
    request: row.request ? fromUuid("request", row.request) : null,
    key: row.key ?? null,
    month: optional(row.month),
    budgets: parseBudgetRefs(row.budgets ?? ""),
    operation: optional(row.operation),
    atMs: Number(row.at),
  };
}
