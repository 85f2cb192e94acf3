// Vouchers: codes that give bonus credit, free credit or a plan once to an account. A redemption,
// its effect and the count of uses are one transaction, so that two processes which redeem one code
// cannot both be the last.

import { and, desc, eq, inArray, isNull, lt, min, or, type SQL, sql } from "drizzle-orm";
import { parseDocument } from "../../core/access/access.ts";
import { deriveTier } from "../../core/access/limits.ts";
import { DAY_MS } from "../../core/durations.ts";
import { FREE_LOTS_MAX } from "../../core/money/free-lots.ts";
import { nano } from "../../core/money/money.ts";
import type { PricedPlan } from "../../core/money/plan-terms.ts";
import {
  type GiftFields,
  giftFields,
  giftFrom,
  type VoucherGift,
} from "../../core/money/voucher-gift.ts";
import { type AccountRow, type AlsoInTransaction, refuseClosed } from "../accounts/accounts.ts";
import { readDocument } from "../accounts/documents.ts";
import { bookOperation, lockAccount, refuseSetAside } from "../ledger/operations.ts";
import { type SignUpOrigin, takeGrant } from "../people/sign-up.ts";
import type { Database } from "../servers/database.ts";
import type { Transaction } from "../servers/transaction.ts";
import { operations } from "../tables/account-schema.ts";
import { voucherRedemptions, vouchers } from "../tables/voucher-schema.ts";
import { givePlan, mayBeGiven } from "./given-plans.ts";

type VoucherRow = typeof vouchers.$inferSelect;

export interface NewVouchers {
  readonly batch: string;
  /** The digests, one for each code. */
  readonly digests: readonly string[];
  readonly gift: VoucherGift;
  /** The accounts that may redeem each code. */
  readonly usesMax: number;
  readonly tiers: readonly string[] | null;
  /**
   * True if an account, an inbox, a network and a device redeem one code of it, as always of free
   * credit and plans.
   */
  readonly oncePerPerson: boolean;
  readonly endsAt: Date | null;
  readonly createdAt: Date;
}

export interface VoucherBatch {
  /** The number of the batch's first code, which counts up from batch to batch. */
  readonly number: number;
  readonly batch: string;
  readonly codes: number;
  readonly gift: VoucherGift;
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
  | "lots"
  | "plan";

/** What an account got by a code. */
export interface RedeemedGift {
  readonly gift: VoucherGift;
  /** The end of the free credit, or of the plan as redeemed; null for bonus credit. */
  readonly until: Date | null;
  /** The number of the credit's operation; null for a plan. */
  readonly operation: number | null;
}

export type Redemption =
  | { readonly is: VoucherRefusal }
  /** `repeated`: this account redeemed it before, and gets nothing more. */
  | (RedeemedGift & { readonly is: "redeemed" | "repeated" });

/** Runs in the transaction of a change of vouchers. */
type AlsoHere = ((tx: Transaction) => Promise<void>) | undefined;

/** Stores vouchers; false if the batch exists, or one of the codes. */
export async function createVouchers(
  { db }: Database,
  { batch, digests, gift, ...terms }: NewVouchers,
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
    const oncePerPerson = terms.oncePerPerson || gift.kind !== "bonus";
    const row = { batch, ...terms, ...giftFields(gift), oncePerPerson };
    const rows = digests.map((digest) => ({ ...row, digest }));
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
      amount: sql<string | null>`min(${vouchers.amount})::text`,
      freeDays: min(vouchers.freeDays),
      plan: sql<PricedPlan | null>`min(${vouchers.plan})`,
      months: min(vouchers.months),
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
  return rows.map(({ amount, freeDays, plan, months, ...row }) => ({
    ...row,
    gift: giftOf({ amount, freeDays, plan, months }),
  }));
}

type GiftColumns = Omit<GiftFields, "amount"> & { readonly amount: bigint | string | null };

function giftOf({ amount, ...fields }: GiftColumns): VoucherGift {
  return giftFrom({ ...fields, amount: amount === null ? null : nano(amount) });
}

/** Ends the codes of a batch; returns the number that ended now. What was redeemed stays. */
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
 * codes are for each person once, like that of a sign-up (D-730). So are those of a plan (D-769).
 * @throws AccountClosed, BalanceTooLarge, OperationSetAside
 */
export async function redeemVoucher(
  { db }: Database,
  { account, digest, now, actor, marksFor, also }: RedemptionTerms,
): Promise<Redemption> {
  return await db.transaction(async (tx) => {
    // The account first, as everywhere; its row also holds back a second redemption of its own.
    const holder = await lockAccount(tx, account.number);
    if (holder === null) throw new Error(`The account ${account.id} is gone`);
    refuseClosed(holder);
    const [voucher] = await tx
      .select()
      .from(vouchers)
      .where(eq(vouchers.digest, digest))
      .for("update");
    if (voucher === undefined) return { is: "unknown" };
    const earlier = await giftBefore(tx, account.number, voucher);
    if (earlier !== null) return { is: "repeated", ...earlier };
    const refusal = await refusalOf(tx, { holder, voucher, now, marksFor });
    if (refusal !== null) return { is: refusal };
    const redeemed = await give(tx, { holder, voucher, now, actor });
    await tx
      .update(vouchers)
      .set({ used: voucher.used + 1 })
      .where(eq(vouchers.number, voucher.number));
    const { gift, until, operation } = redeemed;
    const planUntil = gift.kind === "plan" ? until : null;
    const redemption = { voucher: voucher.number, account: account.number, redeemedAt: now };
    await tx.insert(voucherRedemptions).values({ ...redemption, operation, planUntil });
    await also?.(tx, account.number);
    return { is: "redeemed", ...redeemed };
  });
}

/** What the account got by this code before; null if it never redeemed it. */
async function giftBefore(
  tx: Transaction,
  account: number,
  voucher: VoucherRow,
): Promise<RedeemedGift | null> {
  const { operation, planUntil } = voucherRedemptions;
  const [earlier] = await tx
    .select({ operation, planUntil, freeUntil: operations.expiresAt })
    .from(voucherRedemptions)
    .leftJoin(
      operations,
      and(eq(operations.account, voucherRedemptions.account), eq(operations.number, operation)),
    )
    .where(redeemedBy(account, eq(voucherRedemptions.voucher, voucher.number)));
  if (earlier === undefined) return null;
  if (earlier.operation !== null) {
    await refuseSetAside(tx, account, { number: earlier.operation });
  }
  const until = earlier.planUntil ?? earlier.freeUntil;
  return { gift: giftOf(voucher), until, operation: earlier.operation };
}

/** True if the account redeemed a code of this batch. */
async function hasRedeemed(tx: Transaction, account: number, batch: string): Promise<boolean> {
  const found = await tx
    .select({ voucher: voucherRedemptions.voucher })
    .from(voucherRedemptions)
    .innerJoin(vouchers, eq(vouchers.number, voucherRedemptions.voucher))
    .where(redeemedBy(account, eq(vouchers.batch, batch)))
    .limit(1);
  return found.length > 0;
}

function redeemedBy(account: number, what: SQL) {
  return and(eq(voucherRedemptions.account, account), what);
}

interface RedemptionFacts {
  readonly holder: AccountRow;
  readonly voucher: VoucherRow;
  readonly now: Date;
}

/** The reason why a code gives nothing; null without one. Marks of the person are taken last. */
async function refusalOf(
  tx: Transaction,
  { holder, voucher, now, marksFor }: RedemptionFacts & Pick<RedemptionTerms, "marksFor">,
): Promise<VoucherRefusal | null> {
  const { usesMax, used, tiers, batch, endedAt, endsAt } = voucher;
  if (endedAt !== null || (endsAt !== null && endsAt <= now)) return "ended";
  if (used >= usesMax) return "exhausted";
  if (tiers !== null && !(await hasTier(tx, holder.id, { tiers, now }))) return "tier";
  const gift = giftOf(voucher);
  if (gift.kind === "free" && (await countLots(tx, holder.number, now)) >= FREE_LOTS_MAX) {
    return "lots";
  }
  if (gift.kind === "plan" && !(await mayBeGiven(tx, holder, { plan: gift.plan, now }))) {
    return "plan";
  }
  if (!voucher.oncePerPerson || marksFor === null) return null;
  // The people of one account could otherwise redeem a code each.
  if (await hasRedeemed(tx, holder.number, batch)) return "person";
  const grant = await takeGrant(tx, marksFor(batch), { account: holder.number, now });
  if (grant === "granted") return null;
  return grant === "disposable_inbox" ? "disposable" : "person";
}

async function give(
  tx: Transaction,
  { holder, voucher, now, actor }: RedemptionFacts & Pick<RedemptionTerms, "actor">,
): Promise<RedeemedGift> {
  const gift = giftOf(voucher);
  if (gift.kind === "plan") {
    return { gift, until: await givePlan(tx, holder, { ...gift, now }), operation: null };
  }
  const { number, batch } = voucher;
  const until = gift.kind === "free" ? new Date(now.getTime() + gift.days * DAY_MS) : null;
  const credit =
    until === null
      ? ({ kind: "adjustment", balance: "paid" } as const)
      : ({ kind: "credit", balance: "free", expiresAt: until } as const);
  const operation = await bookOperation(tx, holder.number, {
    ...credit,
    amount: gift.amount,
    actor,
    reason: `voucher ${batch}`,
    reference: `voucher:${number}`,
    createdAt: now,
  });
  return { gift, until, operation: operation.number };
}

/**
 * The ends of free credit that the account's wallet keeps: all since free credit was last given to
 * an account without any, and none once nothing is left.
 */
async function countLots(tx: Transaction, account: number, now: Date): Promise<number> {
  const [row] = await tx.execute<{ lots: number }>(sql`
    WITH grants AS (
      SELECT o.expires_at, o.ended, e.seq,
        coalesce(e.free_after = e.free_delta, false) AS is_first
      FROM operations o
      LEFT JOIN ledger_entries e ON e.account = o.account AND e.operation = o.number
      WHERE o.account = ${account} AND o.balance = 'free' AND o.set_aside_at IS NULL),
    present AS (
      SELECT free_after FROM ledger_entries
      WHERE account = ${account} ORDER BY seq DESC LIMIT 1)
    SELECT count(DISTINCT expires_at)::int AS lots FROM grants
    WHERE NOT ended AND expires_at > ${now.toISOString()}::timestamptz
      AND (seq IS NULL OR (
        (SELECT free_after FROM present) > 0
        AND seq >= (SELECT coalesce(max(seq) FILTER (WHERE is_first), 0) FROM grants)))`);
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
