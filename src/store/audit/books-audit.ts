// Finds facts about which two tables disagree, or a row and its digest, for an audit. One statement
// reads them for many accounts, as of one instant: rows that must agree are written together.

import { fromUuid } from "../../core/ids.ts";
import { type AuditFinding, accountFinding } from "../../core/journal/audit-finding.ts";
import { operationDigest } from "../ledger/operations.ts";
import { arrayText, type Database } from "../servers/database.ts";
import { firstWrongSql, IN_AUDIT, WRONG_SUMS } from "../usage/usage-sums-check.ts";

/** The actor, reason and reference of an operation, which no other table repeats (D-591). */
const OPERATIONS = `
  SELECT account, 'operation ' || number || ': who asked for it, why and when' AS fact,
    NULL::uuid AS request, 'as it was booked' AS expected, 'changed' AS found
  FROM operations WHERE ${IN_AUDIT} AND digest <> ${operationDigest}`;

const APPLIED = `
  SELECT account, 'the time of ledger entry ' || l.seq, NULL::uuid, o.applied_at::text, l.at::text
  FROM operations o JOIN ledger_entries l USING (account)
  WHERE ${IN_AUDIT} AND l.operation = o.number AND o.applied_at <> l.at`;

/** A repayment is made with the entry before it, by the same clock. */
const REPAID = `
  SELECT account, 'the time of ledger entry ' || l.seq, NULL::uuid, b.at::text, l.at::text
  FROM ledger_entries l JOIN ledger_entries b USING (account)
  WHERE ${IN_AUDIT} AND l.kind = 'repayment' AND b.seq = l.seq - 1
    AND b.kind IN ('credit', 'bonus', 'restore') AND b.at <> l.at`;

/** Both accounts are named if they differ: either row may be the wrong one. */
const TOP_UPS = `
  SELECT either.account, 'top-up ' || t.id || ' of payment ' || p.id, NULL::uuid,
    concat_ws(' ', p.account, p.provider, p.amount, p.fee, p.bonus, p.provider_ref),
    concat_ws(' ', t.account, t.provider, t.amount, t.fee, t.bonus, t.intent)
  FROM top_ups t JOIN payments p ON p.number = t.payment
    CROSS JOIN LATERAL (SELECT t.account UNION SELECT p.account) AS either (account)
  WHERE either.${IN_AUDIT} AND (t.account, t.provider, t.amount, t.fee, t.bonus, t.intent)
    IS DISTINCT FROM (p.account, p.provider, p.amount, p.fee, p.bonus, p.provider_ref)`;

/**
 * A message has its cost before the charge is flushed, so it is compared with the charges that have
 * arrived. A late charge may be among rejected entries: until they are resolved, such accounts are
 * left out.
 */
const MAIL = `
  WITH logged AS (
    SELECT account, request, sum(cost) AS cost FROM request_log
    WHERE ${IN_AUDIT} AND service = 'mail' GROUP BY account, request
  ), sent AS (
    SELECT account, m.request, m.cost, (
      SELECT -sum(paid_delta + free_delta) FROM ledger_entries l
      WHERE l.request = m.request AND l.account = m.account AND l.kind <> 'repayment') AS charged
    FROM mail_messages m WHERE ${IN_AUDIT}
  )
  SELECT account, 'the cost of the mail of ', request, coalesce(charged, logged.cost)::text,
    coalesce(sent.cost::text, 'no message')
  FROM sent FULL JOIN logged USING (account, request)
  WHERE account NOT IN (SELECT a.number FROM rejected_entries r JOIN accounts a ON a.id = r.account
      WHERE r.resolved_at IS NULL)
    AND CASE WHEN sent.request IS NULL THEN logged.cost > 0
      ELSE sent.cost <> coalesce(charged, logged.cost) END`;

const STATEMENT = firstWrongSql([OPERATIONS, APPLIED, REPAID, TOP_UPS, MAIL, ...WRONG_SUMS]);

/** The first wrong fact of each account that has one, by the account's id. */
export async function readBookMismatches(
  { sql }: Database,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, AuditFinding>> {
  const rows = await sql.unsafe(STATEMENT, [arrayText(accountIds)]);
  return new Map(
    rows.map(({ id, fact, request, expected, found }) => {
      const name = request === null ? fact : `${fact}${fromUuid("request", request)}`;
      return [String(id), accountFinding(id, name, { expected, found })];
    }),
  );
}
