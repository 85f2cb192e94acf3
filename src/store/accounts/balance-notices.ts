// Finds accounts for mails and events about a balance that runs low, and about free credit that
// ends. Leaves out accounts whose mail or event is stored already.

import type { PendingQuery, Row } from "postgres";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import type { Database } from "../servers/database.ts";

/** A balance below a part of the last top-up. */
interface LowFacts {
  /** The account's number. */
  readonly account: number;
  readonly accountId: string;
  /** The percentage of the last top-up that the paid balance has fallen below. */
  readonly percent: number;
  readonly paid: NanoUsd;
  /** The part of the last top-up that was not taken back. */
  readonly topUp: NanoUsd;
  readonly uniqueKey: string;
}

export interface LowBalance extends LowFacts {
  /** The holder's address. */
  readonly email: string;
}

export interface LowBalanceEvent extends LowFacts {
  readonly type: "balance.low" | "balance.empty";
}

export interface EndingCreditEvent {
  /** The account's number. */
  readonly account: number;
  readonly accountId: string;
  readonly left: NanoUsd;
  readonly endsAt: Date;
  readonly uniqueKey: string;
}

export interface EndingCredit extends EndingCreditEvent {
  /** The holder's address. */
  readonly email: string;
}

export class BalanceNotices {
  constructor(readonly database: Database) {}

  /**
   * Accounts whose paid balance, held money included, is below `low` or `veryLow` percent of their
   * last top-up. Each gets one mail for each of the two until its next top-up; after the mail for
   * the lower one, the higher one is left out. So is an account with an automatic top-up under way.
   */
  async lowBalances(terms: LowTerms, atMost: number): Promise<LowBalance[]> {
    const { sql } = this.database;
    const rows = await sql<(LowRow & { readonly email: string })[]>`
      WITH low AS (${this.#low(terms, sql`a.email IS NOT NULL`)})
      SELECT number, id, email, paid::text, top_up::text, percent, prefix || percent AS unique_key
      FROM low
      WHERE NOT EXISTS (SELECT 1 FROM outbox
        WHERE unique_key IN (prefix || percent, prefix || ${terms.veryLow}::int))
      LIMIT ${atMost}`;
    return rows.map((row) => ({ ...lowOf(row), email: row.email, percent: row.percent }));
  }

  /**
   * The same accounts for events: `balance.low` by the same rule as the mails, and `balance.empty`
   * once until the next top-up if less than `empty` is left. Only accounts with a receiver that
   * chose the type.
   */
  async lowBalanceEvents(
    terms: LowTerms & { readonly empty: NanoUsd },
    atMost: number,
  ): Promise<LowBalanceEvent[]> {
    const { sql } = this.database;
    const chose = sql`a.number IN (
      SELECT account FROM webhook_receivers
      WHERE disabled IS NULL AND events && '{balance.low,balance.empty}'::text[])`;
    const rows = await sql<(LowRow & { readonly type: LowBalanceEvent["type"] })[]>`
      WITH low AS (${this.#low(terms, chose)})
      SELECT number, id, paid::text, top_up::text, percent, due.type, due.unique_key
      FROM low CROSS JOIN LATERAL (VALUES
        ('balance.low', prefix || percent,
          ARRAY[prefix || percent, prefix || ${terms.veryLow}::int]),
        ('balance.empty', prefix || 'empty', ARRAY[prefix || 'empty'])
      ) due (type, unique_key, keys)
      WHERE (due.type = 'balance.low' OR paid < ${String(terms.empty)}::bigint)
        AND EXISTS (SELECT 1 FROM webhook_receivers r
          WHERE r.account = low.number AND r.disabled IS NULL AND due.type = ANY (r.events))
        AND NOT EXISTS (SELECT 1 FROM webhook_events e
          WHERE e.account = low.number AND e.unique_key = ANY (due.keys))
      LIMIT ${atMost}`;
    return rows.map((row) => ({ ...lowOf(row), type: row.type, percent: row.percent }));
  }

  /** Active accounts with a low balance; `prefix` begins the keys of the notices about it. */
  #low({ low, veryLow }: LowTerms, condition: SqlFragment): SqlFragment {
    return this.database.sql`
      SELECT a.number, a.id, a.email, l.paid_after AS paid, p.left_of_it AS top_up,
        CASE WHEN l.paid_after * 100 < p.left_of_it * ${veryLow}::int
          THEN ${veryLow}::int ELSE ${low}::int END AS percent,
        format('low_balance %s %s ', a.number, o.number) AS prefix
      FROM accounts a
      CROSS JOIN LATERAL (
        SELECT number, payment, booked FROM operations
        WHERE account = a.number AND kind = 'credit' AND balance = 'paid'
          AND set_aside_at IS NULL
        ORDER BY number DESC LIMIT 1) o
      CROSS JOIN LATERAL (
        SELECT sum(amount) AS left_of_it FROM operations
        WHERE payment = o.payment AND set_aside_at IS NULL) p
      CROSS JOIN LATERAL (
        SELECT paid_after FROM ledger_entries
        WHERE account = a.number ORDER BY seq DESC LIMIT 1) l
      WHERE ${condition} AND a.state = 'active' AND o.booked
        AND p.left_of_it > 0 AND l.paid_after * 100 < p.left_of_it * ${low}::int
        AND NOT EXISTS (
          SELECT 1 FROM top_ups t
          WHERE t.account = a.number AND t.kind = 'auto' AND t.status = 'open')`;
  }

  /**
   * Accounts with free credit left that ends between `now` and `before`, once half of its time is
   * over; not allowances.
   */
  async endingCredits(span: EndingSpan, atMost: number): Promise<EndingCredit[]> {
    const { sql } = this.database;
    const rows = await sql<(EndingRow & { readonly email: string })[]>`
      WITH ending AS (${this.#ending(span, sql`a.email IS NOT NULL`)})
      SELECT * FROM ending
      WHERE NOT EXISTS (SELECT 1 FROM outbox o WHERE o.unique_key = ending.unique_key)
      LIMIT ${atMost}`;
    return rows.map((row) => ({ ...endingOf(row), email: row.email }));
  }

  /** The same accounts for events, if they have a receiver that chose the type. */
  async endingCreditEvents(span: EndingSpan, atMost: number): Promise<EndingCreditEvent[]> {
    const { sql } = this.database;
    const chose = sql`a.number IN (
      SELECT account FROM webhook_receivers
      WHERE disabled IS NULL AND 'free_credit.ending' = ANY (events))`;
    const rows = await sql<EndingRow[]>`
      WITH ending AS (${this.#ending(span, chose)})
      SELECT * FROM ending
      WHERE NOT EXISTS (SELECT 1 FROM webhook_events e
        WHERE e.account = ending.number AND e.unique_key = ending.unique_key)
      LIMIT ${atMost}`;
    return rows.map(endingOf);
  }

  /**
   * Lots of which something is left. The lots that end after a time have at most the free credit of
   * any moment and the credit that came later and also ends after that time, because the lot that
   * ends first is spent first. A lot of few days is told when half of them are over, not when it
   * is given (D-144).
   */
  #ending({ now, before }: EndingSpan, condition: SqlFragment): SqlFragment {
    return this.database.sql`
      SELECT a.number, a.id, a.email, lot.remaining::text, o.expires_at,
        format('free_credit_ending %s %s', a.number, o.number) AS unique_key
      FROM operations o
      JOIN accounts a ON a.number = o.account
      CROSS JOIN LATERAL (
        SELECT free_after FROM ledger_entries
        WHERE account = a.number ORDER BY seq DESC LIMIT 1) l
      CROSS JOIN LATERAL (
        SELECT least(l.free_after, min(after_before)) - least(l.free_after, min(after_end))
          AS remaining
        FROM (SELECT
            e.free_after - e.free_delta
              + sum(CASE WHEN f.expires_at >= o.expires_at THEN f.amount ELSE 0 END) OVER later
              AS after_before,
            e.free_after - e.free_delta
              + sum(CASE WHEN f.expires_at > o.expires_at THEN f.amount ELSE 0 END) OVER later
              AS after_end
          FROM operations f
          JOIN ledger_entries e ON e.account = f.account AND e.operation = f.number
          WHERE f.account = o.account AND f.balance = 'free' AND f.set_aside_at IS NULL
          WINDOW later AS (ORDER BY f.number DESC)) grants) lot
      WHERE o.balance = 'free' AND NOT o.ended AND o.booked AND o.allowance_month IS NULL
        AND o.expires_at > ${now.toISOString()} AND o.expires_at <= ${before.toISOString()}
        AND o.expires_at - ${now.toISOString()}::timestamptz
          <= ${now.toISOString()}::timestamptz - o.created_at
        AND ${condition} AND a.state = 'active' AND lot.remaining > 0`;
  }
}

/** Percentages of the last top-up. */
interface LowTerms {
  readonly low: number;
  readonly veryLow: number;
}

interface EndingSpan {
  readonly now: Date;
  readonly before: Date;
}

type SqlFragment = PendingQuery<Row[]>;

interface LowRow {
  readonly number: bigint;
  readonly id: string;
  readonly paid: string;
  readonly top_up: string;
  readonly percent: number;
  readonly unique_key: string;
}

function lowOf(row: LowRow) {
  return {
    account: Number(row.number),
    accountId: row.id,
    paid: nano(row.paid),
    topUp: nano(row.top_up),
    uniqueKey: row.unique_key,
  };
}

interface EndingRow {
  readonly number: bigint;
  readonly id: string;
  readonly remaining: string;
  readonly expires_at: string;
  readonly unique_key: string;
}

function endingOf(row: EndingRow) {
  return {
    account: Number(row.number),
    accountId: row.id,
    left: nano(row.remaining),
    endsAt: new Date(row.expires_at),
    uniqueKey: row.unique_key,
  };
}
