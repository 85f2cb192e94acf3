// Reads Postgres for an audit: each account in one snapshot, its ledger as a stream.

import { asc, eq, gt, sql } from "drizzle-orm";
import { fromUuid } from "../core/ids.ts";
import type { CreditFact, EntryKind, ReplayEntry } from "../core/ledger-replay.ts";
import type { AccountPlace } from "./accounts.ts";
import type { Database } from "./database.ts";
import { readDocument } from "./documents.ts";
import type { BucketCursor } from "./ledger.ts";
import { accounts, journalCursors } from "./schema.ts";

type Queries = Pick<Database["db"], "select" | "update" | "execute">;

export interface PaymentFact {
  readonly id: string;
  readonly amount: bigint;
}

/** What the request log and the ledger say of one call that they do not agree about. */
export interface LogMismatch {
  readonly request: string;
  /** The ledger entry of the charge, if there is one. */
  readonly seq: number | null;
  readonly charged: bigint;
  /** Null when the log has no row of it. */
  readonly logged: bigint | null;
  readonly rows: number;
}

/** An account as the ledger had it at one instant. */
export interface AuditSnapshot {
  readonly cursor: BucketCursor;
  readonly nowMs: number;
  readonly version: number;
  /** The version of the document that Redis was given for certain. */
  readonly appliedVersion: number;
  readonly document: string;
  readonly credits: readonly CreditFact[];
  readonly payments: readonly PaymentFact[];
  /** Spending by `202611 key_…`. */
  readonly spending: ReadonlyMap<string, bigint>;
  /** The ledger in order, page by page; to be read once. */
  ledger(): AsyncGenerator<ReplayEntry[]>;
  /** The first call whose logged cost is not what the ledger charged. */
  logMismatch(): Promise<LogMismatch | null>;
}

/** Rows that belong to no account. */
export interface Orphan {
  readonly table: string;
  readonly account: number;
}

const PLACES_A_PAGE = 500;
const ENTRIES_A_PAGE = 5_000;

export class AuditRepository {
  constructor(readonly database: Database) {}

  /** All accounts in the order of their numbers, page by page. */
  async *places(): AsyncGenerator<AccountPlace[]> {
    let after = 0;
    for (;;) {
      const rows = await this.database.db
        .select({ id: accounts.id, bucket: accounts.bucket, number: accounts.number })
        .from(accounts)
        .where(gt(accounts.number, after))
        .orderBy(asc(accounts.number))
        .limit(PLACES_A_PAGE);
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.number;
      yield rows;
    }
  }

  /** Null when there is no such account. */
  async place(accountId: string): Promise<AccountPlace | null> {
    const [row] = await this.database.db
      .select({ id: accounts.id, bucket: accounts.bucket })
      .from(accounts)
      .where(eq(accounts.id, accountId));
    return row ?? null;
  }

  /** How far each bucket's journal is in the ledger. */
  async cursors(): Promise<BucketCursor[]> {
    return await this.database.db.select().from(journalCursors).orderBy(journalCursors.bucket);
  }

  /** Lets `read` look at an account, all of it as of one instant. */
  async snapshot<T>(
    place: AccountPlace,
    read: (repository: AuditSnapshot) => Promise<T>,
  ): Promise<T> {
    return await this.database.db.transaction(async (tx) => read(await open(tx, place)), {
      isolationLevel: "repeatable read",
      accessMode: "read only",
    });
  }

  /** The first rows of the ledger or of the spending that belong to no account. */
  async orphan(): Promise<Orphan | null> {
    const rows = await this.database.db.execute<{ table: string; account: string }>(sql`
      SELECT 'ledger_entries' AS table, account::text FROM ledger_entries l
        WHERE NOT EXISTS (SELECT 1 FROM accounts a WHERE a.number = l.account)
      UNION ALL
      SELECT 'month_spend' AS table, account::text FROM month_spend m
        WHERE NOT EXISTS (SELECT 1 FROM accounts a WHERE a.number = m.account)
      LIMIT 1`);
    const [row] = rows;
    return row === undefined ? null : { table: row.table, account: Number(row.account) };
  }
}

async function open(tx: Queries, { id, bucket }: AccountPlace): Promise<AuditSnapshot> {
  const [cursor] = await tx.select().from(journalCursors).where(eq(journalCursors.bucket, bucket));
  const stored = await readDocument(tx, id);
  if (cursor === undefined || stored === null) throw new Error(`Account ${id} is gone`);
  const { account } = stored;
  const [facts] = await tx.execute<{ now: string; applied: number }>(sql`
    SELECT (extract(epoch FROM now()) * 1000)::bigint::text AS now, applied_version AS applied
    FROM accounts WHERE number = ${account}`);
  return {
    cursor,
    nowMs: Number(facts?.now),
    version: stored.version,
    appliedVersion: Number(facts?.applied),
    document: stored.document,
    credits: await readCredits(tx, account),
    payments: await readPayments(tx, account),
    spending: await readSpending(tx, account),
    ledger: () => readLedger(tx, account),
    logMismatch: () => readLogMismatch(tx, account),
  };
}

async function readCredits(tx: Queries, account: number): Promise<CreditFact[]> {
  const rows = await tx.execute<Record<string, string | null>>(sql`
    SELECT c.number::text, c.purse, c.amount::text, p.id AS payment,
      (extract(epoch FROM c.expires_at) * 1000)::bigint::text AS expires,
      (extract(epoch FROM c.created_at) * 1000)::bigint::text AS created
    FROM credits c LEFT JOIN payments p ON p.number = c.payment AND p.account = c.account
    WHERE c.account = ${account} ORDER BY c.number`);
  return rows.map((row) => ({
    number: Number(row.number),
    purse: row.purse === "paid" ? "paid" : "free",
    amount: BigInt(row.amount ?? 0),
    expiresAtMs: row.expires === null ? null : Number(row.expires),
    createdAtMs: Number(row.created),
    payment: row.payment ?? null,
  }));
}

async function readPayments(tx: Queries, account: number): Promise<PaymentFact[]> {
  const rows = await tx.execute<{ id: string; amount: string }>(sql`
    SELECT id, amount::text FROM payments WHERE account = ${account} ORDER BY number`);
  return rows.map(({ id, amount }) => ({ id, amount: BigInt(amount) }));
}

async function readSpending(tx: Queries, account: number): Promise<Map<string, bigint>> {
  const rows = await tx.execute<{ row: string; spent: string }>(sql`
    SELECT m.month || ' ' || coalesce(k.id, 'key number ' || m.key) AS row, m.spent::text
    FROM month_spend m LEFT JOIN keys k ON k.number = m.key AND k.account = m.account
    WHERE m.account = ${account}`);
  return new Map(rows.map(({ row, spent }) => [row, BigInt(spent)]));
}

/** A cursor of the server: however long the ledger is, one page of it is here. */
async function* readLedger(tx: Queries, account: number): AsyncGenerator<ReplayEntry[]> {
  await tx.execute(sql`
    DECLARE audited NO SCROLL CURSOR FOR
    SELECT l.seq::text, l.kind, l.paid_delta::text, l.free_delta::text, l.paid_after::text,
      l.free_after::text, l.request::text, k.id AS key, l.month::text, l.credit::text,
      (extract(epoch FROM l.at) * 1000)::bigint::text AS at
    FROM ledger_entries l LEFT JOIN keys k ON k.number = l.key AND k.account = l.account
    WHERE l.account = ${account} ORDER BY l.seq`);
  for (;;) {
    const rows = await tx.execute<Record<string, string | null>>(
      sql`FETCH FORWARD ${sql.raw(String(ENTRIES_A_PAGE))} FROM audited`,
    );
    if (rows.length > 0) yield rows.map(entryOf);
    if (rows.length < ENTRIES_A_PAGE) break;
  }
  await tx.execute(sql`CLOSE audited`);
}

function entryOf(row: Record<string, string | null>): ReplayEntry {
  const optional = (text: string | null | undefined) => (text ? Number(text) : null);
  return {
    seq: Number(row.seq),
    kind: row.kind as EntryKind,
    paidDelta: BigInt(row.paid_delta ?? 0),
    freeDelta: BigInt(row.free_delta ?? 0),
    paidAfter: BigInt(row.paid_after ?? 0),
    freeAfter: BigInt(row.free_after ?? 0),
    request: row.request ? fromUuid("request", row.request) : null,
    key: row.key ?? null,
    month: optional(row.month),
    credit: optional(row.credit),
    atMs: Number(row.at),
  };
}

/** A charge without a log row is one only as long as the log of its month is kept. */
async function readLogMismatch(tx: Queries, account: number): Promise<LogMismatch | null> {
  const [row] = await tx.execute<Record<string, string | null>>(sql`
    WITH charged AS (
      SELECT request, -sum(paid_delta + free_delta) AS amount, min(seq) AS seq, min(month) AS month
      FROM ledger_entries WHERE account = ${account} AND request IS NOT NULL GROUP BY request
    ), logged AS (
      SELECT request, sum(cost) AS amount, count(*) AS rows
      FROM request_log WHERE account = ${account} GROUP BY request
    )
    SELECT request::text, charged.seq::text, charged.amount::text AS charged,
      logged.amount::text AS logged, coalesce(logged.rows, 0)::text AS rows
    FROM charged FULL JOIN logged USING (request)
    WHERE logged.rows > 1 OR (coalesce(charged.amount, 0) <> coalesce(logged.amount, 0)
      AND (logged.request IS NOT NULL OR to_regclass('request_log_' || charged.month) IS NOT NULL))
    ORDER BY charged.seq LIMIT 1`);
  if (row === undefined) return null;
  return {
    request: fromUuid("request", row.request ?? ""),
    seq: row.seq ? Number(row.seq) : null,
    charged: BigInt(row.charged ?? 0),
    logged: row.logged ? BigInt(row.logged) : null,
    rows: Number(row.rows),
  };
}
