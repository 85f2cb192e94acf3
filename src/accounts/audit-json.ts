// Writes the result of an audit as JSON, for a worker to store and operators to read.

import { type AuditFinding, describe } from "../core/journal/audit-finding.ts";
import {
  flag,
  integer,
  jsonFrom,
  listOf,
  nested,
  nullable,
  text,
  usdField,
  type WireOf,
} from "../core/records.ts";
import type { AuditReport } from "./audit.ts";

const Finding = {
  account: nullable(text({ sample: "acct_7n42DGM5Tflk9n8mt7Fhc7" })),
  message: text({ sample: "ledger entry 12: paid after it: expected 5, found 6" }),
};

export const AuditResult = {
  ok: flag({ about: "True if everything was proven", sample: true }),
  difference: nullable(nested(Finding), { sample: null }),
  differences: listOf(nested(Finding), {
    about: "One of each account that has any, the first 100",
    sample: [],
  }),
  rejected: listOf(nested(Finding), { sample: [] }),
  accounts: integer({ sample: 1204 }),
  entries: integer({ about: "Ledger entries", sample: 812043 }),
  open_holds: integer({ sample: 3 }),
  wallets_in_redis: integer({ sample: 200 }),
  balance_usd: usdField({ about: "What all accounts own", sample: "9120.5" }),
  owed_usd: usdField({ about: "What they owe", sample: "0" }),
  credited_usd: usdField({ about: "What operations gave", sample: "30000" }),
  reversed_usd: usdField({ about: "What operations took", sample: "25" }),
  repaid_usd: usdField({ about: "What paid credit repaid of what was owed", sample: "0" }),
  charged_usd: usdField({ about: "What calls were charged", sample: "20854.5" }),
  expired_usd: usdField({ about: "Free credit that ended", sample: "0" }),
};

const toJson = jsonFrom(AuditResult);

export function auditJson(report: AuditReport): WireOf<typeof AuditResult> {
  const { difference, differences, rejected, wallets } = report;
  return toJson({
    ...report,
    ok: difference === null && rejected.length === 0,
    difference: difference === null ? null : findingJson(difference),
    differences: differences.map(findingJson),
    rejected: rejected.map(findingJson),
    walletsInRedis: wallets,
  });
}

function findingJson(finding: AuditFinding): WireOf<typeof Finding> {
  return { account: finding.account, message: describe(finding) };
}
