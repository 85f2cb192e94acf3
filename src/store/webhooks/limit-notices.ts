// Finds limits that refused calls, for accounts with a receiver that chose such events. Leaves out
// limits whose event is stored already.

import type { ErrorCode } from "../../core/errors.ts";
import { arrayText, type Database } from "../servers/database.ts";
import { DISABLED_BY_US } from "./receiver-ends.ts";

/** The refusals by a budget of a key. */
const OF_KEYS: readonly ErrorCode[] = ["key_budget_exceeded"];

/** The refusals by a run. */
const OF_RUNS: readonly ErrorCode[] = ["run_budget_exceeded"];

/** The refusals by a budget of an end user. */
const OF_END_USERS: readonly ErrorCode[] = ["end_user_budget_exceeded"];

/** The refusals by any other limit that its account can raise, or wait for. */
const OF_ACCOUNTS: readonly ErrorCode[] = [
  "rate_limit_exceeded",
  "mail_rate_limit",
  "mail_daily_limit",
  "monthly_limit_reached",
  "account_budget_exceeded",
  "insufficient_credits",
  "too_many_streams",
];

const ALL = [...OF_KEYS, ...OF_RUNS, ...OF_END_USERS, ...OF_ACCOUNTS];

export interface ReachedLimit {
  /** The account's number. */
  readonly account: number;
  readonly type: "key.budget_reached" | "run.budget_reached" | "limit.reached";
  /** The id of the key. */
  readonly key: string;
  /** The code of the refusal. */
  readonly code: string;
  /** The limit by its name in the request log; null if the log names none. */
  readonly limit: string | null;
  /** The id of the run that the last refused call named; null without one. */
  readonly run: string | null;
  /** The digest of the end user whose budget refused; null if another limit did. */
  readonly endUser: string | null;
  readonly uniqueKey: string;
}

/**
 * Limits that refused a call within `withinMs`: each once for a key and a UTC day, those of end
 * users once for each of them. The condition on `error_code` is that of the index of refusals,
 * without which each run would read every call.
 */
export async function reachedLimits(
  { sql }: Database,
  { withinMs, atMost }: { readonly withinMs: number; readonly atMost: number },
): Promise<ReachedLimit[]> {
  // A receiver that we disabled gets them as failed, since such a fact does not come again (D-923).
  const missing = sql`${arrayText(DISABLED_BY_US)}::text::text[]`;
  const rows = await sql<ReachedRow[]>`
    WITH refused AS (
      SELECT l.account, l.key, l.error_code AS code, l.refused_by AS "limit",
        (l.at AT TIME ZONE 'UTC')::date AS day,
        CASE WHEN l.error_code = ANY (${arrayText(OF_RUNS)}::text::text[]) THEN l.run END AS by_run,
        CASE WHEN l.error_code = ANY (${arrayText(OF_END_USERS)}::text::text[])
          THEN l.end_user END AS end_user,
        (array_agg(l.run ORDER BY l.at DESC))[1] AS run
      FROM (SELECT DISTINCT account FROM webhook_receivers
        WHERE (disabled IS NULL OR disabled = ANY (${missing}))
          AND events && '{key.budget_reached,run.budget_reached,limit.reached}'::text[]) r
      JOIN request_log l ON l.account = r.account
        AND l.at > now() - ${withinMs} * interval '1 ms'
      WHERE l.error_code IS NOT NULL
        AND l.error_code = ANY (${arrayText(ALL)}::text::text[])
      GROUP BY 1, 2, 3, 4, 5, 6, 7),
    reached AS (
      SELECT refused.account, k.id AS key, code, "limit", run, end_user,
        CASE WHEN code = ANY (${arrayText(OF_KEYS)}::text::text[]) THEN 'key.budget_reached'
          WHEN by_run IS NOT NULL THEN 'run.budget_reached' ELSE 'limit.reached' END AS type,
        -- A run is of the account: its keys share its event.
        CASE WHEN by_run IS NOT NULL THEN concat_ws(' ', 'run', by_run, code, day::text)
          ELSE concat_ws(' ', 'limit', k.id, code, "limit", end_user, day::text) END AS unique_key
      FROM refused JOIN keys k ON k.number = refused.key)
    SELECT * FROM reached
    WHERE EXISTS (SELECT 1 FROM webhook_receivers r WHERE r.account = reached.account
        AND (r.disabled IS NULL OR r.disabled = ANY (${missing})) AND reached.type = ANY (r.events))
      AND NOT EXISTS (SELECT 1 FROM webhook_events e
        WHERE e.account = reached.account AND e.unique_key = reached.unique_key)
    LIMIT ${atMost}`;
  return rows.map(({ account, unique_key: uniqueKey, end_user: endUser, ...row }) => ({
    ...row,
    account: Number(account),
    uniqueKey,
    endUser,
  }));
}

interface ReachedRow extends Omit<ReachedLimit, "account" | "uniqueKey" | "endUser"> {
  readonly account: bigint;
  readonly end_user: string | null;
  readonly unique_key: string;
}
