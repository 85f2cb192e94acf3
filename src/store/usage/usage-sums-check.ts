// Finds sums of the request log that differ from the log, or longer ones that differ from shorter
// ones, as SQL over many accounts.

import { ROLLUP_MINUTES, ROLLUP_SUM_NAMES, UNKNOWN_SERVICE } from "../tables/usage-schema.ts";
import { sumSql, usageStatusSql } from "./usage-changes.ts";

/** A condition on the column `account`: it is one of the accounts whose ids are in $1. */
export const IN_AUDIT =
  "account = ANY(ARRAY(SELECT number FROM accounts WHERE id = ANY($1::text::text[])))";

const GROUP = "key, service, model, status";

const sumsOf = (row: string) =>
  ROLLUP_SUM_NAMES.map((name) => `coalesce(${row}.${name}, 0)`).join(", ");
const rowText = (row: string) => `concat_ws(' ', ${sumsOf(row)})`;
const NAMES = ROLLUP_SUM_NAMES.join(", ");
const factOf = (length: string) => `
  'the ${length} sums of ' || service || ' (' || status || ') at ' || at || ' (${NAMES})'`;

/** True, as SQL, if the log still has the month of this text, such as `202611`. */
export const isMonthKept = (month: string) => `EXISTS (
  SELECT FROM pg_inherits WHERE inhparent = 'request_log'::regclass
    AND inhrelid = to_regclass('request_log_' || ${month}))`;

/** Money whose log row was rejected is counted apart, without a call: all other sums are exact. */
const LOGGED = `
  WITH logged AS (
    SELECT account, date_bin('15 minutes', l.at, '2000-01-01Z') AS at, l.key, l.service,
      coalesce(l.model, '') AS model, ${usageStatusSql("l")} AS status,
      ${ROLLUP_SUM_NAMES.map((name) => `sum(${sumSql("l", name)}) AS ${name}`).join(", ")}
    FROM request_log l WHERE ${IN_AUDIT} GROUP BY 1, 2, 3, 4, 5, 6
  ), kept AS (
    SELECT month FROM (
      SELECT DISTINCT to_char(at AT TIME ZONE 'UTC', 'YYYYMM') AS month FROM usage_rollups
      WHERE ${IN_AUDIT} AND minutes = 15) AS months
    WHERE ${isMonthKept("month")}
  ), counted AS (
    SELECT account, at, ${GROUP}, ${NAMES} FROM usage_rollups
    WHERE ${IN_AUDIT} AND minutes = 15 AND (service <> '${UNKNOWN_SERVICE}' OR calls <> 0)
      AND to_char(at AT TIME ZONE 'UTC', 'YYYYMM') IN (SELECT month FROM kept)
  )
  SELECT account, ${factOf("15-minute")} AS fact, NULL::uuid AS request,
    ${rowText("logged")} AS expected, ${rowText("counted")} AS found
  FROM logged FULL JOIN counted USING (account, at, ${GROUP})
  WHERE (${sumsOf("logged")}) IS DISTINCT FROM (${sumsOf("counted")})`;

/** Compares sums of all months, those whose log is dropped too. */
const longerSums = (short: number, long: number) => `
  WITH shorter AS (
    SELECT account, date_bin(interval '${long} minutes', at, '2000-01-01Z') AS at, ${GROUP},
      ${ROLLUP_SUM_NAMES.map((name) => `sum(${name}) AS ${name}`).join(", ")}
    FROM usage_rollups WHERE ${IN_AUDIT} AND minutes = ${short} GROUP BY 1, 2, ${GROUP}
  ), longer AS (
    SELECT account, at, ${GROUP}, ${NAMES} FROM usage_rollups
    WHERE ${IN_AUDIT} AND minutes = ${long}
  )
  SELECT account, ${factOf(`${long}-minute`)}, NULL::uuid,
    ${rowText("shorter")}, ${rowText("longer")}
  FROM shorter FULL JOIN longer USING (account, at, ${GROUP})
  WHERE (${sumsOf("shorter")}) IS DISTINCT FROM (${sumsOf("longer")})`;

/** Statements for `firstWrongSql`. */
export const WRONG_SUMS: readonly string[] = [
  LOGGED,
  ...ROLLUP_MINUTES.slice(1).map((long, index) => longerSums(ROLLUP_MINUTES[index] ?? 0, long)),
];

/**
 * Joins statements. Each query selects an account's number, a fact, the request that the fact ends
 * with or null, and the expected and the actual value. The joined statement selects one row of each
 * account that has any: the first row of the earliest statement.
 */
export function firstWrongSql(statements: readonly string[]): string {
  const all = statements.map(
    (statement, place) => `SELECT ${place} AS place, * FROM (${statement}) AS s${place}`,
  );
  return `
    SELECT DISTINCT ON (a.number) a.id, w.fact, w.request::text, w.expected, w.found
    FROM (${all.join(" UNION ALL ")}) AS w JOIN accounts a ON a.number = w.account
    ORDER BY a.number, w.place, w.fact`;
}
