// Stores the audits that operators order. A worker claims the oldest waiting one, stores its
// progress and the result. A run whose worker is gone is claimed again.

import { desc, eq, lt } from "drizzle-orm";
import type { Database } from "../servers/database.ts";
import { accounts } from "../tables/account-schema.ts";
import { auditRuns } from "../tables/operator-schema.ts";

/** A worker that has reported nothing for this long counts as dead. */
const AUDIT_CLAIM_MS = 300_000;

type RunRow = Readonly<typeof auditRuns.$inferSelect>;

export const AUDIT_STATES = auditRuns.state.enumValues;

/** A wish for an audit; `account` is the number of an account, null for all. */
export type NewAuditRun = Pick<RunRow, "id" | "account" | "actor" | "createdAt">;

export interface AuditRun extends Omit<RunRow, "seenAt"> {
  readonly accountId: string | null;
}

/** A run that this worker has, until it is not heard of for some time. */
export interface ClaimedAudit {
  readonly number: number;
  /** The account to audit; null for all. */
  readonly account: { readonly id: string; readonly bucket: number } | null;
}

export class AuditRuns {
  constructor(readonly database: Database) {}

  /** Orders a run; a second order with the same id adds none. */
  async add(run: NewAuditRun): Promise<void> {
    await this.database.db
      .insert(auditRuns)
      .values(run)
      .onConflictDoNothing({ target: auditRuns.id });
  }

  /** The newest runs, or those before a number. */
  async list(before: number | null, count: number): Promise<AuditRun[]> {
    const rows = await this.database.db
      .select({ run: auditRuns, accountId: accounts.id })
      .from(auditRuns)
      .leftJoin(accounts, eq(accounts.number, auditRuns.account))
      .where(before === null ? undefined : lt(auditRuns.number, before))
      .orderBy(desc(auditRuns.number))
      .limit(count);
    return rows.map(({ run, accountId }) => ({ ...run, accountId }));
  }

  /** Claims the oldest run that waits or whose worker is gone, if any. */
  async claim(): Promise<ClaimedAudit | null> {
    const [row] = await this.database.sql`
      UPDATE audit_runs SET state = 'running', seen_at = now(), done = 0
      WHERE number = (
        SELECT number FROM audit_runs
        WHERE state = 'waiting'
          OR (state = 'running' AND seen_at < now() - ${AUDIT_CLAIM_MS} * interval '1 ms')
        ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING number, (SELECT id FROM accounts WHERE number = account) AS account,
        (SELECT bucket FROM accounts WHERE number = account) AS bucket`;
    if (row === undefined) return null;
    const { number, account, bucket } = row;
    return {
      number: Number(number),
      account: account === null ? null : { id: String(account), bucket: Number(bucket) },
    };
  }

  /** Counts all accounts. */
  async countAccounts(): Promise<number> {
    const [row] = await this.database.sql`SELECT count(*)::int AS accounts FROM accounts`;
    return Number(row?.accounts ?? 0);
  }

  /** Stores the progress of a run, which also renews the claim. */
  async progress(number: number, done: number, total: number): Promise<void> {
    await this.database.sql`
      UPDATE audit_runs SET done = ${done}, total = ${total}, seen_at = now()
      WHERE number = ${number} AND state = 'running'`;
  }

  async end(
    number: number,
    result: { readonly report: unknown } | { readonly failure: string },
    endedAt: Date,
  ): Promise<void> {
    const isReport = "report" in result;
    await this.database.db
      .update(auditRuns)
      .set({ ...result, state: isReport ? "ended" : "failed", endedAt })
      .where(eq(auditRuns.number, number));
  }
}
