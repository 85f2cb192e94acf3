// Entries of the journal that Postgres refused and whose money therefore is not in the ledger. The
// balances of later entries are absolute, so they include it.

import { sql } from "drizzle-orm";
import type { Queries } from "../servers/transaction.ts";

interface Place {
  /** The account's number. */
  readonly account: number;
  readonly accountId: string;
  /** A number in the account's ledger. */
  readonly before: number;
}

/**
 * The contents of the entries that the ledger lacks before a number. A number that another entry
 * took, after a rebuild without the rejected one, is not missing.
 */
export async function readMissing(
  tx: Queries,
  { account, accountId, before }: Place,
): Promise<Buffer[]> {
  const rows = await tx.execute<{ content: string }>(sql`
    SELECT DISTINCT ON (r.seq) encode(r.content, 'hex') AS content FROM rejected_entries r
    WHERE r.account = ${accountId} AND r.resolved_at IS NULL AND NOT r.ledger_written
      AND r.seq < ${before} AND NOT EXISTS (
        SELECT FROM ledger_entries l WHERE l.account = ${account} AND l.seq = r.seq)
    ORDER BY r.seq, r.epoch DESC`);
  return rows.map(({ content }) => Buffer.from(content, "hex"));
}
