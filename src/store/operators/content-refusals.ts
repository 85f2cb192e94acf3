// Accounts whose calls providers refused for their content, for operators: a provider that blames
// the operator's account for them may close it.

import type { StoredRow } from "../../core/records.ts";
import type { Database } from "../servers/database.ts";
import { CONTENT_REFUSED } from "../usage/log-rows.ts";

/** A number of refusals, and the number of an account. */
export interface RefusalPlace {
  readonly refusals: string;
  readonly account: string;
}

export interface RefusalQuestion {
  readonly days: number;
  readonly before: RefusalPlace | null;
  readonly count: number;
}

/** Lists the accounts with the most refusals first. */
export async function listContentRefusals(
  { sql }: Database,
  { days, before, count }: RefusalQuestion,
): Promise<readonly StoredRow[]> {
  return await sql`
    WITH refused AS (
      SELECT account, count(*) AS refusals, max(at) AS last_at,
        array_to_string(array_agg(DISTINCT lane) FILTER (WHERE lane IS NOT NULL), ', ') AS providers
      FROM request_log
      WHERE stop_reason = ${CONTENT_REFUSED}
        AND at > now() - ${String(days)}::text::int * interval '1 day'
      GROUP BY account)
    SELECT a.number, a.id AS account, a.name AS account_name, a.state, r.refusals,
      nullif(r.providers, '') AS providers, r.last_at
    FROM refused r JOIN accounts a ON a.number = r.account
    WHERE ${before?.refusals ?? null}::text IS NULL OR (r.refusals, a.number) <
      (${before?.refusals ?? "0"}::text::bigint, ${before?.account ?? "0"}::text::bigint)
    ORDER BY r.refusals DESC, a.number DESC LIMIT ${count}`;
}
