// What the actors read of the book of record: wallets to build, credits to apply, epochs of
// buckets.

import { and, asc, desc, eq, gt, gte, isNull, lte, max, sql } from "drizzle-orm";
import type { StoredDocument } from "../core/access.ts";
import type { Scope } from "../core/limits.ts";
import { type NanoUsd, nano } from "../core/money.ts";
import { grantAllowance } from "./allowance.ts";
import type { Database } from "./database.ts";
import {
  accounts,
  credits,
  journalCursors,
  keys,
  ledgerEntries,
  monthSpend,
  payments,
} from "./schema.ts";

/** Any fixed number: processes that find Redis changed take turns. */
const RECOVERY_LOCK = 720_314_002;

/** Everything that a wallet in Redis is built from, as of one snapshot. */
export interface WalletRecord {
  readonly seq: number;
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  readonly freeExpiresAtMs: number | null;
  /** The number of the last credit that the ledger has. */
  readonly credits: number;
  readonly version: number;
  readonly document: string;
  /** Spending of this month and the last, as `s202611` in all and `s202611:key_…` per key. */
  readonly months: readonly (readonly [field: string, spent: NanoUsd])[];
}

export interface CreditRecord {
  readonly number: number;
  readonly purse: "paid" | "free";
  readonly amount: NanoUsd;
  readonly expiresAtMs: number | null;
}

export interface Cursor {
  readonly bucket: number;
  readonly epoch: number;
  readonly entry: number;
}

/** The transaction or the pool: both run queries. */
type Queries = Pick<Database["db"], "select" | "update" | "execute">;

/** Says what Redis must be given, by the cursors and a function that raises a bucket's epoch. */
type Rebuild = (
  cursors: readonly Cursor[],
  newEpoch: (bucket: number) => Promise<Cursor>,
) => Promise<readonly { readonly apply: () => Promise<void> }[]>;

export class Book {
  constructor(readonly database: Database) {}

  /** Null when there is no such account. */
  readWallet(accountId: string): Promise<WalletRecord | null> {
    return this.database.db.transaction((tx) => readWallet(tx, accountId), {
      isolationLevel: "repeatable read",
      accessMode: "read only",
    });
  }

  /** The credits with a number above `after`, in order. */
  async creditsAfter(accountId: string, after: number): Promise<CreditRecord[]> {
    const rows = await this.database.db
      .select({ credit: credits })
      .from(credits)
      .innerJoin(accounts, eq(accounts.number, credits.account))
      .where(and(eq(accounts.id, accountId), gt(credits.number, after)))
      .orderBy(asc(credits.number));
    return rows.map(({ credit }) => ({
      number: credit.number,
      purse: credit.purse,
      amount: nano(credit.amount),
      expiresAtMs: credit.expiresAt?.getTime() ?? null,
    }));
  }

  /** The access document and its version; null when there is no such account. */
  readDocument(accountId: string): Promise<{ version: number; document: string } | null> {
    return this.database.db.transaction((tx) => readDocument(tx, accountId), {
      isolationLevel: "repeatable read",
      accessMode: "read only",
    });
  }

  /**
   * Books the Free plan's allowance of the UTC month of `nowMs`, unless that month has it already
   * or the account is on the plan no more. Processes that do it at once book one.
   */
  grantAllowance(accountId: string, nowMs: number, amount: NanoUsd): Promise<void> {
    return grantAllowance(this.database, { accountId, nowMs, amount });
  }

  /** Notes that Redis has the document of this version. */
  async markApplied(accountId: string, version: number): Promise<void> {
    await this.database.db
      .update(accounts)
      .set({ appliedVersion: version })
      .where(and(eq(accounts.id, accountId), lte(accounts.appliedVersion, version)));
  }

  /**
   * Lets one process at a time compare Redis with the cursors. `rebuild` is given the cursors and a
   * function that puts a bucket under a new epoch, which is committed when `rebuild` returns.
   */
  async recovery(rebuild: Rebuild): Promise<void> {
    const steps = await this.database.db.transaction(async (tx) => {
      await tx.execute(sql`SELECT pg_advisory_xact_lock(${RECOVERY_LOCK})`);
      return await recover(tx, rebuild);
    });
    for (const step of steps) await step.apply();
  }
}

async function recover(tx: Queries, rebuild: Rebuild): ReturnType<Rebuild> {
  const cursors = await tx.select().from(journalCursors).orderBy(asc(journalCursors.bucket));
  const steps = await rebuild(cursors, (bucket) => newEpoch(tx, bucket));
  // A server that is older than the book lost access documents too, and a replica that took over
  // may have missed the latest: they are given again, by whoever finishes what is unapplied.
  const lost =
    steps.length > 0 ? undefined : gt(accounts.changedAt, sql`now() - interval '1 hour'`);
  await tx.update(accounts).set({ appliedVersion: 0 }).where(lost);
  return steps;
}

/** The cursor under its new epoch; a flusher may have moved it since it was read. */
async function newEpoch(tx: Queries, bucket: number): Promise<Cursor> {
  const [row] = await tx
    .update(journalCursors)
    .set({ epoch: sql`${journalCursors.epoch} + 1`, streamId: "0-0" })
    .where(eq(journalCursors.bucket, bucket))
    .returning();
  if (row === undefined) throw new Error(`Bucket ${bucket} has no journal cursor`);
  return row;
}

async function readWallet(tx: Queries, accountId: string): Promise<WalletRecord | null> {
  const stored = await readDocument(tx, accountId);
  if (stored === null) return null;
  const { account } = stored;
  const [last] = await tx
    .select()
    .from(ledgerEntries)
    .where(eq(ledgerEntries.account, account))
    .orderBy(desc(ledgerEntries.seq))
    .limit(1);
  const [applied] = await tx
    .select({ number: sql<number>`coalesce(max(${ledgerEntries.credit}), 0)::int` })
    .from(ledgerEntries)
    .where(eq(ledgerEntries.account, account));
  const creditsApplied = applied?.number ?? 0;
  const [free] = await tx
    .select({ expiresAt: sql<string | null>`max(${credits.expiresAt})` })
    .from(credits)
    .where(
      and(
        eq(credits.account, account),
        eq(credits.purse, "free"),
        lte(credits.number, creditsApplied),
      ),
    );
  return {
    seq: last?.seq ?? 0,
    paid: nano(last?.paidAfter ?? 0n),
    free: nano(last?.freeAfter ?? 0n),
    freeExpiresAtMs: free?.expiresAt ? new Date(free.expiresAt).getTime() : null,
    credits: creditsApplied,
    version: stored.version,
    document: stored.document,
    months: await readMonths(tx, account),
  };
}

async function readMonths(tx: Queries, account: number): Promise<WalletRecord["months"]> {
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
  const months = new Map<string, bigint>();
  for (const { month, key, spent } of rows) {
    months.set(`s${month}`, (months.get(`s${month}`) ?? 0n) + spent);
    months.set(`s${month}:${key}`, spent);
  }
  return [...months].map(([field, spent]) => [field, nano(spent)] as const);
}

/** The access document as a transaction sees it; null when there is no such account. */
export async function readDocument(
  tx: Queries,
  accountId: string,
): Promise<{ account: number; version: number; document: string } | null> {
  const [account] = await tx.select().from(accounts).where(eq(accounts.id, accountId));
  if (account === undefined) return null;
  const [paid] = await tx
    .select({
      net: sql<string>`coalesce(sum(${payments.amount} - ${payments.refunded}), 0)::text`,
      first: sql<string | null>`min(${payments.paidAt})`,
    })
    .from(payments)
    .where(eq(payments.account, account.number));
  const [granted] = await tx
    .select({ month: max(credits.allowanceMonth) })
    .from(credits)
    .where(eq(credits.account, account.number));
  const live = await tx
    .select()
    .from(keys)
    .where(and(eq(keys.account, account.number), isNull(keys.revokedAt)))
    .orderBy(asc(keys.number));
  const document: StoredDocument = {
    state: account.state,
    state_reason: account.stateReason,
    contract: account.contract,
    net_paid: paid?.net ?? "0",
    first_payment_ms: paid?.first ? new Date(paid.first).getTime() : null,
    own_cap: account.ownCap === null ? null : account.ownCap.toString(),
    ...(account.plan !== null && { plan: account.plan, allowance_month: granted?.month ?? 0 }),
    keys: live.map((key) => ({
      id: key.id,
      name: key.name,
      scopes: key.scopes as Scope[],
      ip: key.ipAllowlist,
      monthly_limit: key.monthlyLimit === null ? null : key.monthlyLimit.toString(),
    })),
  };
  return { account: account.number, version: account.version, document: JSON.stringify(document) };
}
