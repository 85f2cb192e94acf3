// The usual length of the replies that an account gets from a model.

import type { Database } from "../servers/database.ts";

/** Days whose calls count. */
const DAYS = 30;

/**
 * The mean of the output tokens of the account's answered calls of a model in the last days; null
 * without such calls.
 */
export async function averageReply(
  { sql }: Database,
  { account, model }: { readonly account: string; readonly model: string },
): Promise<number | null> {
  const [row] = await sql`
    SELECT ceil(sum(u.completion_tokens)::numeric / nullif(sum(u.calls), 0)) AS tokens
    FROM usage_rollups u JOIN accounts a ON a.number = u.account
    WHERE a.id = ${account} AND u.minutes = 1440 AND u.model = ${model} AND u.status = 'ok'
      AND u.at > now() - ${DAYS} * interval '1 day'`;
  return row?.tokens == null ? null : Number(row.tokens);
}
