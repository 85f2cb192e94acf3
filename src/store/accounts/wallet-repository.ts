// Postgres as the actors use it: the records that wallets are built from, operations, access
// documents, the epochs of buckets, and settlements that wait for Redis.

import { and, asc, desc, eq, gt, gte, isNull, lt, lte, not, or, sql } from "drizzle-orm";
import type { EndUserBudget } from "../../core/access/end-users.ts";
import type { Operation } from "../../core/journal/journal.ts";
import type { BeforeGrant, FreeGrant, FreeReturn } from "../../core/money/free-lots.ts";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import type { BucketCursor } from "../ledger/journal-cursors.ts";
import { type AppliedOperation, lostOperations } from "../ledger/lost-operations.ts";
import { operationsAfter } from "../ledger/operations.ts";
import { WaitingSettlements } from "../ledger/waiting-settlements.ts";
import { arrayText, type Database } from "../servers/database.ts";
import { type Queries, takeLock } from "../servers/transaction.ts";
import { accounts, keys, operations } from "../tables/account-schema.ts";
import { isAnyOf } from "../tables/any-of.ts";
import { journalCursors, ledgerEntries, monthSpend } from "../tables/schema.ts";
import { accountNumber, findAccountNumber } from "./account-number.ts";
import { grantAllowance } from "./allowance.ts";
import { type AccountDocument, readDocument, readDocuments } from "./documents.ts";
import {
  type AskedEndUser,
  beginEndUsers,
  bringUpToDate,
  type EndUserCount,
  readEndUser,
} from "./end-users.ts";
import { beginRun, hasOpenRunsMax, type NewRun, readRun } from "./runs.ts";
import { readMarkers, type StoredMarker } from "./stored-markers.ts";

/** An arbitrary lock number: only one process at a time sets buckets up. */
export const RECOVERY_LOCK = 720_314_002;
const DOCUMENTS_PER_PAGE = 500;

/** Everything that a wallet in Redis is built from, read in one snapshot. */
export interface WalletRecord {
  readonly seq: number;
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  /** The amount owed. */
  readonly owed: NanoUsd;
  /** The operations up to the last one in the ledger that gave free credit, in order. */
  readonly grants: readonly AppliedGrant[];
  /** The free credit that late settlements gave back, in order. */
  readonly returns: readonly FreeReturn[];
  /** The number of the last operation in the ledger. */
  readonly operations: number;
  readonly version: number;
  readonly document: string;
  /** The spending of each key in this UTC month and the last one. */
  readonly months: readonly MonthSpending[];
  /** Entries that the ledger lacks before its last entry, whose balances include them. */
  readonly missing: readonly Buffer[];
}

/** An operation that gave free credit. */
export interface AppliedGrant extends FreeGrant {
  readonly number: number;
  /** By its ledger entry; null if the ledger lacks it. */
  readonly before: (BeforeGrant & { readonly seq: number }) | null;
}

/** The facts about an account that an eviction needs. */
export interface EvictionRecord {
  /** The number of the last ledger entry. */
  readonly seq: number;
  /** The ids of all keys, revoked ones too: their states go with the wallet. */
  readonly keyIds: readonly string[];
}

export interface MonthSpending {
  readonly key: string;
  /** The month as a number, such as 202611. */
  readonly month: number;
  readonly spent: NanoUsd;
}

/** The charges of budgets as Postgres has them. */
export interface BudgetRows {
  /** Spans with their charges: at least the newest two spans of each budget. */
  readonly spans: readonly BudgetSpending[];
  /** Entries that the ledger lacks, as in `WalletRecord`. */
  readonly missing: readonly Buffer[];
}

export interface BudgetSpending {
  readonly number: number;
  readonly startMs: number;
  readonly spent: NanoUsd;
}

/** A bucket and its epoch in Redis, 0 if Redis knows none. */
export interface EpochInRedis {
  readonly bucket: number;
  readonly epoch: number;
}

/** The callbacks with which a process repairs a Redis that may have lost data. */
interface Recovery {
  /**
   * Makes Redis agree with the cursors and returns the buckets that were rebuilt. `newEpochs` gives
   * each bucket an epoch above that of its cursor and above the one that it has in Redis.
   */
  rebuild(
    cursors: readonly BucketCursor[],
    newEpochs: (lost: readonly EpochInRedis[]) => Promise<readonly BucketCursor[]>,
  ): Promise<readonly number[]>;
  writeDocuments(documents: readonly AccountDocument[]): Promise<void>;
}

/** Postgres for the actors. Every read fails after the timeout of its database. */
export class WalletRepository {
  readonly waiting: WaitingSettlements;
  /** The runs of an account, by its id. */
  readonly runs = {
    read: (accountId: string, id: string) =>
      this.database.withTimeout(readRun(this.database, accountId, id)),
    begin: (accountId: string, run: NewRun) =>
      this.database.withTimeout(beginRun(this.database, accountId, run)),
    isFull: (accountId: string, nowMs: number) =>
      this.database.withTimeout(hasOpenRunsMax(this.database, accountId, nowMs)),
  };

  /** The end users of an account, by its id. */
  readonly endUsers = {
    read: <Default extends EndUserBudget>(accountId: string, asked: AskedEndUser<Default>) => {
      const { db } = this.database;
      const read = (account: number) => readEndUser(this.database, account, asked);
      return this.database.withTimeout(accountNumber(db, accountId).then(read));
    },
    begin: (accountId: string, asked: readonly AskedEndUser[]) =>
      this.database.withTimeout(beginEndUsers(this.database, accountId, asked)),
    touch: (digest: string, found: readonly EndUserCount[]) =>
      this.database.withTimeout(bringUpToDate(this.database.db, digest, found)),
  };

  constructor(readonly database: Database) {
    this.waiting = new WaitingSettlements(database);
  }

  /** Null if there is no such account. */
  readWallet(accountId: string): Promise<WalletRecord | null> {
    return this.#snapshot((tx) => readWallet(tx, accountId));
  }

  /** Null if there is no such account. */
  readForEviction(accountId: string): Promise<EvictionRecord | null> {
    return this.#snapshot(async (tx) => {
      const account = await findAccountNumber(tx, accountId);
      if (account === null) return null;
      const last = await lastEntry(tx, account);
      return { seq: last?.seq ?? 0, keyIds: await readKeyIds(tx, account) };
    });
  }

  /** The markers of an account's idempotency keys that still count, the newest first. */
  readMarkers(accountId: string): Promise<readonly StoredMarker[]> {
    return this.#snapshot((tx) => readMarkers(tx, accountId));
  }

  /** The spending of these budgets of an account, read in one snapshot. */
  readBudgets(accountId: string, numbers: readonly number[]): Promise<BudgetRows> {
    return this.#snapshot((tx) => readBudgets(tx, accountId, numbers));
  }

  /** The operations with a number above `after`, in order. */
  operationsAfter(accountId: string, after: number): Promise<Operation[]> {
    const { database } = this;
    return database.withTimeout(operationsAfter(database.db, accountId, after));
  }

  /** The operations among these entries of the journal that Postgres does not have. */
  lacking(items: Parameters<typeof lostOperations>[1]): Promise<AppliedOperation[]> {
    const { database } = this;
    return database.withTimeout(lostOperations(database.sql, items));
  }

  /** The access document and its version; null if there is no such account. */
  readDocument(accountId: string): Promise<{ version: number; document: string } | null> {
    return this.#snapshot((tx) => readDocument(tx, accountId));
  }

  #snapshot<Value>(read: (tx: Queries) => Promise<Value>): Promise<Value> {
    const { database } = this;
    return database.withTimeout(
      database.db.transaction(read, {
        isolationLevel: "repeatable read",
        accessMode: "read only",
      }),
    );
  }

  /**
   * Books the Free plan's allowance of the UTC month of `nowMs`, unless it is booked already or the
   * account is no longer on the plan. Safe to call from several processes at once.
   */
  grantAllowance(accountId: string, nowMs: number, amount: NanoUsd): Promise<void> {
    return grantAllowance(this.database, { accountId, nowMs, amount });
  }

  /** Records that Redis has this version of the document. */
  async markApplied(accountId: string, version: number): Promise<void> {
    await this.database.db
      .update(accounts)
      .set({ appliedVersion: version })
      .where(and(eq(accounts.id, accountId), lte(accounts.appliedVersion, version)));
  }

  /**
   * Lets one process at a time compare Redis with the cursors. Redis gets a new epoch before it is
   * committed here. Until then no other process can compare or move the cursor, so records of the
   * new epoch are never taken for invalid ones. If the commit fails, the epoch in Redis is above
   * the cursor's: the next process to compare finds this and rebuilds the bucket with a higher
   * epoch.
   */
  async recovery({ rebuild, writeDocuments }: Recovery): Promise<void> {
    const { db, withTimeout } = this.database;
    const recovering = db.transaction(async (tx) => {
      await takeLock(tx, RECOVERY_LOCK);
      const cursors = await tx.select().from(journalCursors).orderBy(asc(journalCursors.bucket));
      const rebuilt = await rebuild(cursors, (lost) => newEpochs(tx, lost));
      for await (const page of this.lostDocuments(tx, rebuilt)) await writeDocuments(page);
    });
    // If this takes longer than the timeout it continues, and a retry finds its result.
    await withTimeout(recovering);
  }

  /** Pages of the access documents that Redis may have lost, given which buckets were rebuilt. */
  async *lostDocuments(tx: Queries, rebuilt: readonly number[]): AsyncGenerator<AccountDocument[]> {
    // A server that lost journal entries lost access documents too, and a replica that was promoted
    // may have missed the latest ones. In a rebuilt bucket each wallet is built with its document.
    const lost =
      rebuilt.length > 0
        ? not(isAnyOf(accounts.bucket, rebuilt))
        : or(
            gt(accounts.changedAt, sql`now() - interval '1 hour'`),
            lt(accounts.appliedVersion, accounts.version),
          );
    for (let after = 0; ; ) {
      const where = and(lost, gt(accounts.number, after));
      const page = await readDocuments(tx, { where, limit: DOCUMENTS_PER_PAGE });
      const last = page.at(-1);
      if (last === undefined) return;
      yield page;
      after = last.account;
    }
  }
}

/** Gives the cursors new epochs and returns them. A flush may have moved a cursor meanwhile. */
async function newEpochs(
  tx: Queries,
  lost: readonly EpochInRedis[],
): Promise<readonly BucketCursor[]> {
  if (lost.length === 0) return [];
  const { bucket, epoch, entry } = journalCursors;
  // One statement: a Redis that was just started has lost all of them.
  const buckets = arrayText(lost.map((one) => one.bucket));
  const epochs = arrayText(lost.map((one) => one.epoch));
  const raised = await tx
    .update(journalCursors)
    .set({ epoch: sql`greatest(${epoch}, in_redis.epoch) + 1`, entry: 0, keptEntry: 0 })
    .from(
      sql`unnest(${buckets}::text::smallint[], ${epochs}::text::bigint[])
        AS in_redis (bucket, epoch)`,
    )
    .where(eq(bucket, sql`in_redis.bucket`))
    .returning({ bucket, epoch, entry });
  if (raised.length < lost.length) throw new Error("A bucket has no journal cursor");
  return raised;
}

async function readWallet(tx: Queries, accountId: string): Promise<WalletRecord | null> {
  const stored = await readDocument(tx, accountId);
  if (stored === null) return null;
  const { account } = stored;
  const last = await lastEntry(tx, account);
  const [applied] = await tx
    .select({ number: sql<number>`coalesce(max(${ledgerEntries.operation}), 0)::int` })
    .from(ledgerEntries)
    .where(eq(ledgerEntries.account, account));
  const operationsApplied = applied?.number ?? 0;
  const grants = await readGrants(tx, account, operationsApplied);
  return {
    seq: last?.seq ?? 0,
    paid: nano(last?.paidAfter ?? 0n),
    free: nano(last?.freeAfter ?? 0n),
    owed: nano(last?.owedAfter ?? 0n),
    grants,
    // Without a second lot no end but the last is known, and nothing moves it.
    returns: grants.length > 1 ? await readReturns(tx, account) : [],
    operations: operationsApplied,
    version: stored.version,
    document: stored.document,
    months: await readMonths(tx, account),
    missing: await readMissing(tx, { account, accountId, before: last?.seq ?? 0 }),
  };
}

async function readGrants(tx: Queries, account: number, last: number): Promise<AppliedGrant[]> {
  const rows = await tx
    .select({
      number: operations.number,
      amount: operations.amount,
      expiresAt: operations.expiresAt,
      createdAt: operations.createdAt,
      seq: ledgerEntries.seq,
      free: ledgerEntries.freeAfter,
      added: ledgerEntries.freeDelta,
      appliedAt: ledgerEntries.at,
    })
    .from(operations)
    .leftJoin(
      ledgerEntries,
      and(
        eq(ledgerEntries.account, operations.account),
        eq(ledgerEntries.operation, operations.number),
      ),
    )
    .where(
      and(
        eq(operations.account, account),
        eq(operations.balance, "free"),
        isNull(operations.setAsideAt),
        lte(operations.number, last),
      ),
    )
    .orderBy(asc(operations.number));
  return rows.map(({ number, amount, expiresAt, createdAt, seq, free, added, appliedAt }) => ({
    number,
    amount,
    expiresAtMs: expiresAt?.getTime() ?? null,
    createdAtMs: createdAt.getTime(),
    before:
      seq === null || free === null || added === null || appliedAt === null
        ? null
        : { seq, owned: free - added, nowMs: appliedAt.getTime() },
  }));
}

async function readReturns(tx: Queries, account: number): Promise<FreeReturn[]> {
  const { seq, at, freeDelta: amount, kind } = ledgerEntries;
  const rows = await tx
    .select({ seq, at, amount })
    .from(ledgerEntries)
    // As the index has it: a parameter in place of the kind would not match.
    .where(
      and(eq(ledgerEntries.account, account), sql`${kind} = 'late_charge'`, sql`${amount} > 0`),
    )
    .orderBy(asc(seq));
  return rows.map((row) => ({ seq: row.seq, admittedMs: row.at.getTime(), amount: row.amount }));
}

async function lastEntry(tx: Queries, account: number) {
  const [last] = await tx
    .select()
    .from(ledgerEntries)
    .where(eq(ledgerEntries.account, account))
    .orderBy(desc(ledgerEntries.seq))
    .limit(1);
  return last;
}

/** The ids of all keys of an account, revoked ones too. */
export async function readKeyIds(tx: Queries, account: number): Promise<string[]> {
  const rows = await tx
    .select({ id: keys.id })
    .from(keys)
    .where(eq(keys.account, account))
    .orderBy(asc(keys.number));
  return rows.map(({ id }) => id);
}

async function readMonths(tx: Queries, account: number): Promise<MonthSpending[]> {
  const rows = await tx
    .select({ month: monthSpend.month, key: keys.id, spent: monthSpend.spent })
    .from(monthSpend)
    .innerJoin(keys, eq(keys.number, monthSpend.key))
    .where(
      and(
        eq(monthSpend.account, account),
        gte(
          monthSpend.month,
          sql`to_char((now() AT TIME ZONE 'UTC') - interval '1 month', 'YYYYMM')::int`,
        ),
      ),
    );
  return rows.map(({ month, key, spent }) => ({ month, key, spent: nano(spent) }));
}

/** A budget has at most this many spans in Redis (records.lua). */
const SPANS_READ = 2;

async function readBudgets(
  tx: Queries,
  accountId: string,
  numbers: readonly number[],
): Promise<BudgetRows> {
  const account = await findAccountNumber(tx, accountId);
  if (account === null) return { spans: [], missing: [] };
  const before = (await lastEntry(tx, account))?.seq ?? 0;
  return {
    spans: await readSpans(tx, account, numbers),
    missing: await readMissing(tx, { account, accountId, before }),
  };
}

async function readSpans(
  tx: Queries,
  account: number,
  numbers: readonly number[],
): Promise<BudgetSpending[]> {
  const rows = await tx.execute<Record<"number" | "start" | "spent", string>>(sql`
    SELECT named.number::text, span.start::text, span.spent::text
    FROM unnest(${arrayText(numbers)}::text::bigint[]) AS named (number)
    CROSS JOIN LATERAL (
      SELECT start, spent FROM budget_spend
      WHERE account = ${account} AND budget = named.number
      ORDER BY start DESC LIMIT ${SPANS_READ}) AS span`);
  return rows.map(({ number, start, spent }) => {
    return { number: Number(number), startMs: Number(start), spent: nano(spent) };
  });
}

interface LedgerPlace {
  /** The account's number. */
  readonly account: number;
  readonly accountId: string;
  /** A number in the account's ledger. */
  readonly before: number;
}

/**
 * Returns the contents of the entries that the ledger lacks before a number, because Postgres
 * refused them. The balances of later entries are absolute, so they include the money of these
 * entries. A number that another entry took, after a rebuild without the rejected one, is not
 * missing.
 */
async function readMissing(
  tx: Queries,
  { account, accountId, before }: LedgerPlace,
): Promise<Buffer[]> {
  const rows = await tx.execute<{ content: string }>(sql`
    SELECT DISTINCT ON (r.seq) encode(r.content, 'hex') AS content FROM rejected_entries r
    WHERE r.account = ${accountId} AND r.resolved_at IS NULL AND NOT r.ledger_written
      AND r.seq < ${before} AND NOT EXISTS (
        SELECT FROM ledger_entries l WHERE l.account = ${account} AND l.seq = r.seq)
    ORDER BY r.seq, r.epoch DESC`);
  return rows.map(({ content }) => Buffer.from(content, "hex"));
}
