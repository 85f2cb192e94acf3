// Finds keys that spend fast, from the sums of `month_spend` that the flush keeps anyway, and
// stores the alarms of the rules. A sample is taken at each check, so nothing is written on the way
// of a call (D-885).

import { and, desc, eq, isNotNull, isNull, lt, lte, type SQL } from "drizzle-orm";
import {
  BURN_KEEP_MS,
  BURN_WINDOW_MS,
  type BurnTerms,
  burnWords,
} from "../../core/access/burn-rules.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../core/durations.ts";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import { monthBefore, monthOf } from "../../core/money/months.ts";
import { lockAccount, raiseVersion } from "../ledger/operations.ts";
import { arrayText, type Database } from "../servers/database.ts";
import type { Queries, Transaction } from "../servers/transaction.ts";
import { accounts, keys } from "../tables/account-schema.ts";
import { burnAlarms } from "../tables/burn-schema.ts";
import type { AccountRow, AlsoInTransaction } from "./accounts.ts";

/**
 * A check that is this much older than the window begins is no longer its begin, nor may charges
 * reach the ledger so much later.
 */
export const GAP_MS = 30 * SECOND_MS;
/** The usual spending is that of the quarters of an hour with spending, from so long ago... */
const USUAL_FROM_MS = 7 * DAY_MS;
/** ... to so long ago, which leaves out the time of the breach itself. */
const USUAL_TO_MS = HOUR_MS;
/** With fewer such quarters the usual is not known. */
const USUAL_QUARTERS_MIN = 8;
/** The most alarms of one check; the next one finds the others (D-885). */
const AT_ONCE = 200;

/** A key that spends fast, and the rule that says so. */
export interface BurnBreach extends BurnTerms {
  /** The number of the account. */
  readonly account: number;
  /** The number, the id and the name of the key. */
  readonly key: number;
  readonly keyId: string;
  readonly keyName: string;
  readonly rule: string;
  readonly isOperators: boolean;
  readonly spent: NanoUsd;
  readonly threshold: NanoUsd;
}

interface Sampling {
  readonly now: Date;
  /** The worker has rules of the operator, which are for the keys of all accounts. */
  readonly isEveryKey: boolean;
  /** The buckets with charges that reach the ledger late. */
  readonly behind: readonly number[];
}

/**
 * Samples the spending of the keys with rules. Samples of other keys go, and of those whose charges
 * are late: spending that no check sees in time must not look like a sudden rise later (D-885). A
 * worker without rules of the operator keeps the samples of those that have some (D-885).
 */
export async function sampleSpending(
  { sql }: Database,
  { now, isEveryKey, behind }: Sampling,
): Promise<void> {
  const at = now.toISOString();
  const old = new Date(now.getTime() - BURN_WINDOW_MS - GAP_MS).toISOString();
  // A call is charged to the month of its admission.
  const month = monthBefore(monthOf(now.getTime()));
  await sql`
    WITH others AS MATERIALIZED (
      SELECT FROM burn_checks WHERE is_every_key AND at >= ${old}::timestamptz LIMIT 1),
    watched AS MATERIALIZED (
      SELECT k.number AS key, coalesce(sum(m.spent), 0)::bigint AS spent
      FROM keys k JOIN accounts a ON a.number = k.account
        AND a.bucket <> ALL(${arrayText(behind)}::text::smallint[])
      LEFT JOIN month_spend m ON m.account = k.account AND m.key = k.number
        AND m.month >= ${month}
      WHERE k.revoked_at IS NULL AND (${isEveryKey} OR EXISTS (SELECT FROM others)
        OR EXISTS (SELECT FROM burn_rules r WHERE r.account = k.account AND r.removed_at IS NULL
          AND (r.key IS NULL OR r.key = k.number)))
      GROUP BY k.number),
    unwatched AS (
      DELETE FROM burn_samples s WHERE NOT EXISTS (SELECT FROM watched w WHERE w.key = s.key)),
    checked AS (
      INSERT INTO burn_checks AS known (at, is_every_key) VALUES (${at}::timestamptz, ${isEveryKey})
      ON CONFLICT (at) DO UPDATE SET is_every_key = known.is_every_key OR excluded.is_every_key)
    INSERT INTO burn_samples (key, at, spent, since_month)
    SELECT w.key, ${at}::timestamptz, w.spent, ${month}::int FROM watched w
    LEFT JOIN LATERAL (
      SELECT s.spent, s.since_month FROM burn_samples s
      WHERE s.key = w.key ORDER BY s.at DESC LIMIT 1
    ) newest ON true
    WHERE (newest.spent, newest.since_month) IS DISTINCT FROM (w.spent, ${month}::int)
    ON CONFLICT DO NOTHING`;
  await sql`DELETE FROM burn_checks WHERE at < ${old}::timestamptz`;
  await sql`
    DELETE FROM burn_samples s WHERE s.at < ${old}::timestamptz AND EXISTS (
      SELECT FROM burn_samples later
      WHERE later.key = s.key AND later.at > s.at AND later.at <= ${old}::timestamptz)`;
}

/**
 * The spending of each key since the window began, as SQL. The window begins at the last check that
 * is five minutes old. After a gap, in which nobody checked, it begins at the first check of now:
 * the spending of the gap may have taken an hour.
 */
function spendingOf({ sql }: Database, now: Date) {
  const begin = new Date(now.getTime() - BURN_WINDOW_MS).toISOString();
  const gap = new Date(now.getTime() - BURN_WINDOW_MS - GAP_MS).toISOString();
  return sql`
    since AS (
      SELECT coalesce(
        max(at) FILTER (WHERE at <= ${begin}::timestamptz AND at >= ${gap}::timestamptz),
        min(at) FILTER (WHERE at > ${begin}::timestamptz)) AS at
      FROM burn_checks),
    active AS (
      SELECT k.number AS key, k.account, k.id, k.name,
        newest.spent AS newest, newest.since_month AS newest_month,
        coalesce(begin.spent,
          CASE WHEN k.created_at > since.at THEN 0 ELSE first.spent END) AS begin,
        coalesce(begin.since_month, first.since_month) AS begin_month
      FROM since CROSS JOIN (
        SELECT DISTINCT s.key FROM burn_samples s, since WHERE s.at > since.at) changed
      JOIN keys k ON k.number = changed.key AND k.revoked_at IS NULL
      JOIN LATERAL (SELECT s.spent, s.since_month FROM burn_samples s WHERE s.key = k.number
        ORDER BY s.at DESC LIMIT 1) newest ON true
      JOIN LATERAL (SELECT s.spent, s.since_month FROM burn_samples s WHERE s.key = k.number
        ORDER BY s.at LIMIT 1) first ON true
      LEFT JOIN LATERAL (SELECT s.spent, s.since_month FROM burn_samples s
        WHERE s.key = k.number AND s.at <= since.at ORDER BY s.at DESC LIMIT 1) begin ON true),
    spending AS (
      -- If a month has ended in between, one of both samples is a sum of more months.
      SELECT a.key, a.account, a.id, a.name, a.newest - a.begin
        + CASE WHEN a.newest_month = a.begin_month THEN 0 ELSE coalesce((
          SELECT sum(CASE WHEN a.newest_month > a.begin_month THEN m.spent ELSE -m.spent END)
          FROM month_spend m WHERE m.account = a.account AND m.key = a.key
            AND m.month >= least(a.newest_month, a.begin_month)
            AND m.month < greatest(a.newest_month, a.begin_month))::bigint, 0) END AS spent
      FROM active a)`;
}

/** The breaches that have no alarm yet. `ofOperator` are the rules for every key. */
export async function findBreaches(
  database: Database,
  { now, ofOperator }: { readonly now: Date; readonly ofOperator: readonly BurnTerms[] },
): Promise<readonly BurnBreach[]> {
  const { sql } = database;
  const operators = JSON.stringify(
    ofOperator.map((terms) => ({ ...terms, amount: String(terms.amount), rule: burnWords(terms) })),
  );
  const from = new Date(now.getTime() - USUAL_FROM_MS).toISOString();
  const to = new Date(now.getTime() - USUAL_TO_MS).toISOString();
  const rows = await sql<BreachRow[]>`
    WITH ${spendingOf(database, now)},
    rules AS (
      SELECT r.number::text AS rule, false AS "isOperators", r.account, r.key, r.amount, r.times,
        r.action, r.requests_per_minute AS "requestsPerMinute", r.minutes
      FROM burn_rules r WHERE r.removed_at IS NULL
      UNION ALL
      SELECT o.rule, true, NULL, NULL, o.amount, o.times, o.action, o."requestsPerMinute", o.minutes
      FROM json_to_recordset(${operators}::text::json) AS o(rule text, amount bigint, times int,
        action text, "requestsPerMinute" int, minutes int)),
    compared AS (
      SELECT s.account, s.key, s.id AS "keyId", s.name AS "keyName", s.spent, r.rule,
        r."isOperators", r.amount, r.times, r.action, r."requestsPerMinute", r.minutes,
        CASE WHEN r.times IS NULL THEN r.amount
          WHEN u.usual IS NOT NULL THEN greatest(r.amount, r.times * u.usual) END AS threshold
      FROM spending s
      JOIN rules r ON (r.account IS NULL OR r.account = s.account)
        AND (r.key IS NULL OR r.key = s.key) AND s.spent >= r.amount
      LEFT JOIN LATERAL (
        -- Each quarter of an hour has three times five minutes.
        SELECT (sum(cost) / (3 * count(DISTINCT at)))::bigint AS usual FROM usage_rollups
        WHERE r.times IS NOT NULL AND account = s.account AND minutes = 15 AND key = s.key
          AND at >= ${from}::timestamptz AND at < ${to}::timestamptz AND cost > 0
        HAVING count(DISTINCT at) >= ${USUAL_QUARTERS_MIN}) u ON true)
    SELECT * FROM compared c
    WHERE c.spent >= c.threshold AND NOT EXISTS (SELECT FROM burn_alarms a
      WHERE a.key = c.key AND a.rule = c.rule AND a.over_at IS NULL)
    -- Accounts take turns, and each has its pauses first: one with many keys delays no other.
    ORDER BY row_number() OVER (PARTITION BY c.account
      ORDER BY c.action <> 'pause', c.action <> 'slow', c.key, c.rule), c.account
    LIMIT ${AT_ONCE}`;
  return rows.map((row) => ({
    ...row,
    account: Number(row.account),
    key: Number(row.key),
    amount: nano(row.amount),
    spent: nano(row.spent),
    threshold: nano(row.threshold),
  }));
}

interface BreachRow extends Omit<BurnBreach, "account" | "key" | "amount" | "spent" | "threshold"> {
  readonly account: bigint;
  readonly key: bigint;
  readonly amount: bigint;
  readonly spent: bigint;
  readonly threshold: bigint;
}

/**
 * Stores the alarm of a breach, and with it the measure of its rule. Null if another worker has
 * stored it, or if the key was revoked meanwhile.
 */
export async function raiseAlarm(
  { db }: Database,
  breach: BurnBreach,
  { now, also }: { readonly now: Date; readonly also: AlarmNotices },
): Promise<AccountRef | null> {
  return await db.transaction(async (tx) => {
    const account = await lockAccount(tx, breach.account);
    const isLive = and(eq(keys.number, breach.key), isNull(keys.revokedAt));
    const [key] = await tx.select({ number: keys.number }).from(keys).where(isLive);
    if (account === null || account.state === "closed" || key === undefined) return null;
    const { keyId: _, keyName: __, isOperators: ___, ...columns } = breach;
    const { minutes } = breach;
    const endsAt = minutes === null ? null : new Date(now.getTime() + minutes * MINUTE_MS);
    const stored = await tx
      .insert(burnAlarms)
      .values({ ...columns, at: now, endsAt })
      .onConflictDoNothing()
      .returning({ number: burnAlarms.number });
    const number = stored[0]?.number;
    if (number === undefined) return null;
    if (endsAt !== null) await raiseVersion(tx, account.number);
    await also(tx, { account, number, endsAt });
    return account;
  });
}

type AccountRef = Pick<AccountRow, "id" | "bucket">;

/** The work in the transaction of an alarm: a line, a mail and an event. */
type AlarmNotices = (
  tx: Transaction,
  alarm: {
    readonly account: Pick<AccountRow, "id" | "number" | "email">;
    readonly number: number;
    readonly endsAt: Date | null;
  },
) => Promise<void>;

/**
 * Ends the measures whose time is over, and lets the rules fire again whose breach is. A breach
 * with a measure is over when that ends by itself; one without, or whose measure people ended, when
 * the key spends less than half of the threshold in a whole window (D-885). So a rule has at most
 * one measure against a key. Returns the accounts whose access document changed.
 */
export async function endAlarms(database: Database, now: Date): Promise<readonly AccountRef[]> {
  const { db, sql } = database;
  const at = now.toISOString();
  const begin = new Date(now.getTime() - BURN_WINDOW_MS).toISOString();
  // After a pause the key's window begins anew, because only calls from before the pause were
  // charged meanwhile.
  await sql`
    WITH ${spendingOf(database, now)},
    over AS (
      UPDATE burn_alarms a SET over_at = ${at}::timestamptz
      WHERE a.over_at IS NULL AND CASE
        WHEN coalesce(a.ended_at, a.ends_at) = a.ends_at THEN a.ends_at <= ${at}::timestamptz
        ELSE EXISTS (
          SELECT FROM burn_samples s, since WHERE s.key = a.key AND s.at <= since.at
            AND since.at <= ${begin}::timestamptz)
          AND NOT EXISTS (
            SELECT FROM spending s WHERE s.key = a.key AND s.spent * 2 >= a.threshold) END
      RETURNING a.key, a.action = 'pause' AND coalesce(a.ended_at, a.ends_at) = a.ends_at AS anew)
    DELETE FROM burn_samples s USING over WHERE over.anew AND s.key = over.key
      AND s.at < (SELECT max(n.at) FROM burn_samples n WHERE n.key = s.key)`;
  const isOver = and(isNull(burnAlarms.endedAt), lte(burnAlarms.endsAt, now));
  const due = await db
    .selectDistinct({ number: accounts.number, id: accounts.id, bucket: accounts.bucket })
    .from(burnAlarms)
    .innerJoin(accounts, eq(accounts.number, burnAlarms.account))
    .where(isOver)
    .limit(AT_ONCE);
  for (const { number } of due) {
    await db.transaction(async (tx) => {
      await lockAccount(tx, number);
      const own = and(eq(burnAlarms.account, number), isOver);
      await tx.update(burnAlarms).set({ endedAt: burnAlarms.endsAt }).where(own);
      await raiseVersion(tx, number);
    });
  }
  return due;
}

/**
 * Deletes alarms and removed rules of long ago. An alarm that is not over stays while its key is
 * watched: its rule must not fire again for the same breach.
 */
export async function deleteOldAlarms({ sql }: Database, now: Date): Promise<void> {
  // The earlier of both clocks counts: a clock that jumped ahead must not delete anything.
  const before = sql`
    least(${now.toISOString()}::timestamptz, now()) - ${BURN_KEEP_MS} * interval '1 ms'`;
  await sql`
    DELETE FROM burn_alarms a
    WHERE a.at < ${before} AND (a.ends_at IS NULL OR a.ended_at IS NOT NULL)
      AND (a.over_at IS NOT NULL OR NOT EXISTS (SELECT FROM burn_samples s WHERE s.key = a.key))`;
  await sql`DELETE FROM burn_rules WHERE removed_at < ${before}`;
}

/** Ends the measures against a key before their time; false if none lasts. */
export async function endMeasures(
  { db }: Database,
  { account, keyId, now, also }: EndedMeasures,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    await lockAccount(tx, account);
    const own = and(eq(keys.account, account), eq(keys.id, keyId));
    const key = tx.select({ number: keys.number }).from(keys).where(own);
    const lasting = and(isNotNull(burnAlarms.endsAt), isNull(burnAlarms.endedAt));
    const ended = await tx
      .update(burnAlarms)
      .set({ endedAt: now })
      .where(and(eq(burnAlarms.key, key), lasting))
      .returning({ number: burnAlarms.number });
    if (ended.length === 0) return false;
    await raiseVersion(tx, account);
    await also(tx, account);
    return true;
  });
}

interface EndedMeasures {
  readonly account: number;
  readonly keyId: string;
  readonly now: Date;
  readonly also: AlsoInTransaction;
}

/** The alarms of an account, or those before a number, newest first. */
export async function listBurnAlarms(
  { db }: Pick<Database, "db">,
  account: number,
  { before, count }: { readonly before: number | null; readonly count: number },
): Promise<readonly BurnAlarmRow[]> {
  const isOlder = before === null ? undefined : lt(burnAlarms.number, before);
  return await readAlarms(db, and(eq(burnAlarms.account, account), isOlder), count);
}

/** The alarms of an account whose measures last, newest first. */
export async function listLasting(
  { db }: Pick<Database, "db">,
  account: number,
): Promise<readonly BurnAlarmRow[]> {
  const lasting = and(isNotNull(burnAlarms.endsAt), isNull(burnAlarms.endedAt));
  return await readAlarms(db, and(eq(burnAlarms.account, account), lasting), AT_ONCE);
}

async function readAlarms(
  db: Queries,
  where: SQL | undefined,
  atMost: number,
): Promise<readonly BurnAlarmRow[]> {
  const rows = await db
    .select({ alarm: burnAlarms, keyId: keys.id, keyName: keys.name })
    .from(burnAlarms)
    .innerJoin(keys, eq(keys.number, burnAlarms.key))
    .where(where)
    .orderBy(desc(burnAlarms.number))
    .limit(atMost);
  return rows.map(({ alarm, ...key }) => ({
    ...alarm,
    ...key,
    amount: nano(alarm.amount),
    spent: nano(alarm.spent),
    threshold: nano(alarm.threshold),
  }));
}

export interface BurnAlarmRow extends BurnTerms {
  readonly number: number;
  readonly keyId: string;
  readonly keyName: string;
  readonly spent: NanoUsd;
  readonly threshold: NanoUsd;
  readonly at: Date;
  readonly endsAt: Date | null;
  readonly endedAt: Date | null;
}
