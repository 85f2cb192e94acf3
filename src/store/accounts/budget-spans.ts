// Deletes what budgets have spent in spans that ended long ago.

import { DAY_MS } from "../../core/durations.ts";
import type { Database } from "../servers/database.ts";
import { deleteInParts } from "../servers/delete-in-parts.ts";

/**
 * The spending of a span is kept this long after the span's begin: far longer than the longest span
 * with an end, and than a charge can be late (D-986).
 */
export const SPANS_KEPT_MS = 100 * DAY_MS;

/**
 * Deletes the spending of spans that began before a time; of budgets of all time, which have no
 * end, none. Returns how many rows.
 */
export async function deleteSpans({ sql }: Database, before: Date): Promise<number> {
  return await deleteInParts(async (most) => {
    // A row that a late charge changes meanwhile has moved, and is deleted by the next statement.
    const { count } = await sql`
      DELETE FROM budget_spend WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM budget_spend WHERE start > 0 AND start < ${before.getTime()}
        LIMIT ${most}))`;
    return count;
  });
}
