// Vouchers: codes that give bonus or free credit once to an account. A redemption, its operation
// and the count of uses are one transaction, so two processes that redeem one code cannot both be
// the last.

import { and, desc, eq, gt, inArray, isNull, lt, min, or, sql } from "drizzle-orm";
import { parseDocument } from "../../core/access/access.ts";
import { deriveTier } from "../../core/access/limits.ts";
import { DAY_MS } from "../../core/durations.ts";
import { FREE_LOTS_MAX } from "../../core/money/free-lots.ts";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import { type AlsoInTransaction, refuseClosed } from "../accounts/accounts.ts";
import { readDocument } from "../accounts/documents.ts";
import { bookOperation, lockAccount, refuseSetAside } from "../ledger/operations.ts";
import { type SignUpOrigin, takeGrant } from "../people/sign-up.ts";
import type { Database } from "../servers/database.ts";
import type { Transaction } from "../servers/transaction.ts";
import { operations } from "../tables/account-schema.ts";
import { voucherRedemptions, vouchers } from "../tables/voucher-schema.ts";

export interface NewVouchers {
  readonly batch: string;
  /** The digests, one for each code. */
  readonly digests: readonly string[];
  readonly amount: NanoUsd;
  /** The days after which the free credit ends; null for bonus credit. */
  readonly freeDays: number | null;
  /** The accounts that may redeem each code. */
  readonly usesMax: number;
  readonly tiers: readonly string[] | null;
  /** True if an inbox, a network and a device redeem one code of it, as always of free credit. */
  readonly oncePerPerson: boolean;
  readonly endsAt: Date | null;
  readonly createdAt: Date;
}

export interface VoucherBatch {
  /** The number of the batch's first code, which counts up from batch to batch. */
  readonly number: number;
  readonly batch: string;
  readonly codes: number;
  readonly amount: NanoUsd;
  readonly freeDays: number | null;
  readonly used: number;
  readonly usesMax: number;
  readonly tiers: readonly string[] | null;
  readonly oncePerPerson: boolean;
  readonly endsAt: Date | null;
  readonly endedAt: Date | null;
  readonly createdAt: Date | null;
}

/** The reasons for which a code gives nothing. */
export type VoucherRefusal =
  | "unknown"
  | "ended"
  | "exhausted"
  | "tier"
  | "person"
  | "disposable"
  | "lots";

export type Redemption =
  | { readonly is: VoucherRefusal }
  | {
      /** `repeated`: this account redeemed it before, and gets nothing more. */
      readonly is: "redeemed" | "repeated";
      readonly amount: NanoUsd;
      /** When the free credit ends; null for bonus credit. */
      readonly freeUntil: Date | null;
      readonly operation: number;
    };

/** Runs in the transaction of a change of vouchers. */
type AlsoHere = ((tx: Transaction) => Promise<void>) | undefined;

/** Stores vouchers; false if the batch exists, or one of the codes. */
export async function createVouchers(
  { db }: Database,
  { batch, digests, freeDays, ...terms }: NewVouchers,
  also?: AlsoHere,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    await lockForBatch(tx);
    const [known] = await tx
      .select({ number: vouchers.number })
      .from(vouchers)
      .where(or(eq(vouchers.batch, batch), inArray(vouchers.digest, [...digests])))
      .limit(1);
    if (known !== undefined || new Set(digests).size < digests.length) return false;
    const oncePerPerson = terms.oncePerPerson || freeDays !== null;
    const rows = digests.map((digest) => ({ batch, digest, freeDays, ...terms, oncePerPerson }));
    await tx.insert(vouchers).values(rows);
    await also?.(tx);
    return true;
  });
}

/** Of two commands with one name, the second one finds the batch of the first. */
async function lockForBatch(tx: Transaction): Promise<void> {
  await tx.execute("LOCK TABLE vouchers IN SHARE ROW EXCLUSIVE MODE");
}

/** The rows of a page; null for all. */
interface BatchPage {
  /** The `number` of the last batch of the page before; null for the newest. */
  readonly before: number | null;
  readonly count: number;
}

/** The batches, newest first. */
export async function listBatches(
  { db }: Database,
  page: BatchPage | null = null,
): Promise<VoucherBatch[]> {
  const first = min(vouchers.number);
  const listed = db
    .select({
      number: sql<number>`min(${vouchers.number})::float8`,
      batch: vouchers.batch,
      codes: sql<number>`count(*)::int`,
      amount: sql<string>`min(${vouchers.amount})::text`,
      freeDays: min(vouchers.freeDays),
      used: sql<number>`sum(${vouchers.used})::float8`,
      usesMax: sql<number>`sum(${vouchers.usesMax})::float8`,
      oncePerPerson: sql<boolean>`bool_or(${vouchers.oncePerPerson})`,
      tiers: sql<readonly string[] | null>`min(${vouchers.tiers})`,
      endsAt: min(vouchers.endsAt),
      endedAt: min(vouchers.endedAt),
      createdAt: min(vouchers.createdAt),
    })
    .from(vouchers)
    .groupBy(vouchers.batch)
    .having(page?.before == null ? undefined : lt(first, page.before))
    .orderBy(desc(first));
  const rows = await (page === null ? listed : listed.limit(page.count));
  return rows.map((row) => ({ ...row, amount: nano(row.amount) }));
}

/** Ends the codes of a batch; returns the number that ended now. Redeemed credit stays. */
export async function endBatch(
  { db }: Database,
  { batch, now, also }: { readonly batch: string; readonly now: Date; readonly also?: AlsoHere },
): Promise<number> {
  return await db.transaction(async (tx) => {
    const ended = await tx
      .update(vouchers)
      .set({ endedAt: now })
      .where(and(eq(vouchers.batch, batch), isNull(vouchers.endedAt)))
      .returning({ number: vouchers.number });
    if (ended.length > 0) await also?.(tx);
    return ended.length;
  });
}

interface RedemptionTerms {
  readonly account: { readonly id: string; readonly number: number };
  readonly digest: string;
  readonly now: Date;
  readonly actor: string;
  /** The marks of the person who redeems, for a batch; null for an operator, who decides. */
  readonly marksFor: ((batch: string) => PersonMarks) | null;
  readonly also?: AlsoInTransaction | undefined;
}

/** The inbox, network and device of a person, as keyed hashes. */
export type PersonMarks = Pick<SignUpOrigin, "marks" | "isDisposable">;

/**
 * Redeems a code for an account. Bonus credit is an adjustment of the paid balance: it does not
 * end, and as it is no payment it moves no tier (D-730). Free credit is a lot of its own, and its
 * codes are for each person once, like that of a sign-up (D-730).
 * @throws AccountClosed, BalanceTooLarge, OperationSetAside
 */
export async function redeemVoucher(
  { db }: Database,
  { account, digest, now, actor, marksFor, also }: RedemptionTerms,
): Promise<Redemption> {
  return await db.transaction(async (tx) => {
    // The account first, as everywhere; its row also holds back a second redemption of its own.
    refuseClosed(await lockAccount(tx, account.number));
    const [voucher] = await tx
      .select()
      .from(vouchers)
      .where(eq(vouchers.digest, digest))
      .for("update");
    if (voucher === undefined) return { is: "unknown" };
    const { number, usesMax, used, tiers, batch, freeDays } = voucher;
    const amount = nano(voucher.amount);
    const [earlier] = await tx
      .select({ operation: voucherRedemptions.operation, freeUntil: operations.expiresAt })
      .from(voucherRedemptions)
      .innerJoin(
        operations,
        and(
          eq(operations.account, voucherRedemptions.account),
          eq(operations.number, voucherRedemptions.operation),
        ),
      )
      .where(
        and(eq(voucherRedemptions.voucher, number), eq(voucherRedemptions.account, account.number)),
      );
    if (earlier !== undefined) {
      await refuseSetAside(tx, account.number, { number: earlier.operation });
      return { is: "repeated", amount, ...earlier };
    }
    const hasEnded = voucher.endedAt !== null || (voucher.endsAt !== null && voucher.endsAt <= now);
    if (hasEnded) return { is: "ended" };
    if (used >= usesMax) return { is: "exhausted" };
    if (tiers !== null && !(await hasTier(tx, account.id, { tiers, now }))) return { is: "tier" };
    if (freeDays !== null && (await countLots(tx, account.number, now)) >= FREE_LOTS_MAX) {
      return { is: "lots" };
    }
    if (voucher.oncePerPerson && marksFor !== null) {
      const grant = await takeGrant(tx, marksFor(batch), { account: account.number, now });
      if (grant !== "granted")
        return { is: grant === "disposable_inbox" ? "disposable" : "person" };
    }
    const freeUntil = freeDays === null ? null : new Date(now.getTime() + freeDays * DAY_MS);
    const credit =
      freeUntil === null
        ? ({ kind: "adjustment", balance: "paid" } as const)
        : ({ kind: "credit", balance: "free", expiresAt: freeUntil } as const);
    const operation = await bookOperation(tx, account.number, {
      ...credit,
      amount,
      actor,
      reason: `voucher ${batch}`,
      reference: `voucher:${number}`,
      createdAt: now,
    });
    await tx
      .update(vouchers)
      .set({ used: used + 1 })
      .where(eq(vouchers.number, number));
    await tx.insert(voucherRedemptions).values({
      voucher: number,
      account: account.number,
      operation: operation.number,
      redeemedAt: now,
    });
    await also?.(tx, account.number);
    return { is: "redeemed", amount, freeUntil, operation: operation.number };
  });
}

/** The ends of free credit that an account has. */
async function countLots(tx: Transaction, account: number, now: Date): Promise<number> {
  const [row] = await tx
    .select({ lots: sql<number>`count(DISTINCT ${operations.expiresAt})::int` })
    .from(operations)
    .where(
      and(
        eq(operations.account, account),
        eq(operations.balance, "free"),
        eq(operations.ended, false),
        isNull(operations.setAsideAt),
        gt(operations.expiresAt, now),
      ),
    );
  return row?.lots ?? 0;
}

/** True if the account has one of these tiers, as this transaction sees it; a plan is none. */
async function hasTier(
  tx: Transaction,
  accountId: string,
  { tiers, now }: { readonly tiers: readonly string[]; readonly now: Date },
): Promise<boolean> {
  const found = await readDocument(tx, accountId);
  if (found === null) throw new Error(`The account ${accountId} has no document`);
  const { tierInputs } = parseDocument(found.document);
  const { kind, name } = deriveTier(tierInputs, now.getTime());
  return kind === "tier" && tiers.includes(name);
}
