// The result of an audit in JSON, as a worker stores it and operators read it. Amounts are decimal
// text.

import { type AuditFinding, describe } from "../core/journal/audit-finding.ts";
import { type NanoUsd, toDecimal } from "../core/money/money.ts";
import type { AuditReport } from "./audit.ts";

export function auditJson(report: AuditReport) {
  const { difference, differences, rejected, accounts, entries, openHolds, wallets } = report;
  return {
    ok: difference === null && rejected.length === 0,
    difference: difference === null ? null : findingJson(difference),
    differences: differences.map(findingJson),
    rejected: rejected.map(findingJson),
    accounts,
    entries,
    open_holds: openHolds,
    wallets_in_redis: wallets,
    balance_usd: text(report.balance),
    owed_usd: text(report.owed),
    credited_usd: text(report.credited),
    reversed_usd: text(report.reversed),
    repaid_usd: text(report.repaid),
    charged_usd: text(report.charged),
    expired_usd: text(report.expired),
  };
}

function findingJson(finding: AuditFinding) {
  return { account: finding.account, message: describe(finding) };
}

/** A sum over all accounts may be outside the range of NanoUsd. */
function text(amount: bigint): string {
  return toDecimal(amount as NanoUsd);
}
