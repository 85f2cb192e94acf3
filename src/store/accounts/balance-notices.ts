// Finds accounts for mails about a balance that runs low, and about free credit that ends. Leaves
// out accounts whose mail is in the outbox already.

import { type NanoUsd, nano } from "../../core/money/money.ts";
import type { Database } from "../servers/database.ts";

/** The holder of an account, who gets a mail about the balance. */
interface Noticed {
  /** The account's number. */
  readonly account: number;
  readonly email: string;
}

export interface LowBalance extends Noticed {
  /** The percentage of the last top-up that the paid balance has fallen below. */
  readonly percent: number;
  readonly paid: NanoUsd;
  /** The part of the last top-up that was not taken back. */
  readonly topUp: NanoUsd;
  readonly uniqueKey: string;
}

export interface EndingCredit extends Noticed {
  readonly left: NanoUsd;
  readonly endsAt: Date;
  readonly uniqueKey: string;
}

export class BalanceNotices {
  constructor(readonly database: Database) {}

  /**
   * Accounts whose paid balance, held money included, is below `low` or `veryLow` percent of their
   * last top-up. Each gets one mail for each of the two until its next top-up; after the mail for
   * the lower one, the higher one is left out. So is an account with an automatic top-up under way.
   */
  async lowBalances(
    { low, veryLow }: { readonly low: number; readonly veryLow: number },
    atMost: number,
  ): Promise<LowBalance[]> {
    const rows = await this.database.sql<LowRow[]>`
      WITH accounts_low AS (
        SELECT a.number, a.email, l.paid_after AS paid, p.left_of_it AS top_up,
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
        WHERE a.email IS NOT NULL AND a.state = 'active' AND o.booked
          AND p.left_of_it > 0 AND l.paid_after * 100 < p.left_of_it * ${low}::int
          AND NOT EXISTS (
            SELECT 1 FROM top_ups t
            WHERE t.account = a.number AND t.kind = 'auto' AND t.status = 'open'))
      SELECT number, email, paid::text, top_up::text, percent, prefix || percent AS unique_key
      FROM accounts_low
      WHERE NOT EXISTS (SELECT 1 FROM outbox
        WHERE unique_key IN (prefix || percent, prefix || ${veryLow}::int))
      LIMIT ${atMost}`;
    return rows.map((row) => ({
      account: Number(row.number),
      email: row.email,
      percent: row.percent,
      paid: nano(row.paid),
      topUp: nano(row.top_up),
      uniqueKey: row.unique_key,
    }));
  }

  /** Accounts with free credit left that ends between `now` and `before`; not allowances. */
  async endingCredits(now: Date, before: Date, atMost: number): Promise<EndingCredit[]> {
    const rows = await this.database.sql<EndingRow[]>`
      SELECT a.number, a.email, least(l.free_after, o.amount)::text AS remaining, o.expires_at,
        format('free_credit_ending %s %s', a.number, o.number) AS unique_key
      FROM operations o
      JOIN accounts a ON a.number = o.account
      CROSS JOIN LATERAL (
        SELECT free_after FROM ledger_entries
        WHERE account = a.number ORDER BY seq DESC LIMIT 1) l
      WHERE o.balance = 'free' AND NOT o.ended AND o.booked AND o.allowance_month IS NULL
        AND o.expires_at > ${now.toISOString()} AND o.expires_at <= ${before.toISOString()}
        AND a.email IS NOT NULL AND a.state = 'active' AND l.free_after > 0
        AND NOT EXISTS (SELECT 1 FROM outbox
          WHERE unique_key = format('free_credit_ending %s %s', a.number, o.number))
      LIMIT ${atMost}`;
    return rows.map((row) => ({
      account: Number(row.number),
      email: row.email,
      left: nano(row.remaining),
      endsAt: new Date(row.expires_at),
      uniqueKey: row.unique_key,
    }));
  }
}

interface LowRow {
  readonly number: bigint;
  readonly email: string;
  readonly paid: string;
  readonly top_up: string;
  readonly percent: number;
  readonly unique_key: string;
}

interface EndingRow {
  readonly number: bigint;
  readonly email: string;
  readonly remaining: string;
  readonly expires_at: string;
  readonly unique_key: string;
}
