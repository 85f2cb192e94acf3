// Lists the audits that operators asked for, with their progress and findings.

import { AuditResult } from "../accounts/audit-json.ts";
import {
  integer,
  jsonFrom,
  nested,
  nullable,
  text,
  time,
  type WireOf,
  word,
} from "../core/records.ts";
import { AUDIT_STATES, type AuditRun as AuditRow, AuditRuns } from "../store/audit/audit-runs.ts";
import type { Database } from "../store/servers/database.ts";
import { byNumber, listReading, type PageOf } from "./list-reading.ts";

export const AuditRun = {
  id: text({ sample: "op_7n42DGM5Tflk9n8m" }),
  account: nullable(
    text({ about: "Null for all accounts", sample: "acct_7n42DGM5Tflk9n8mt7Fhc7" }),
    {
      sample: null,
    },
  ),
  actor: text({ sample: "ops@example.com" }),
  state: word(AUDIT_STATES, { sample: "ended" }),
  done: integer({ about: "Accounts that are proven", sample: 1204 }),
  total: nullable(integer({ about: "Of how many", sample: 1204 })),
  failure: nullable(text({ about: "Why it could not be finished", sample: "timeout" }), {
    sample: null,
  }),
  created_at: time({ sample: "2026-11-22T13:00:00.000Z" }),
  ended_at: nullable(time({ sample: "2026-11-22T13:00:21.000Z" })),
  report: nullable(nested(AuditResult)),
};

const toJson = jsonFrom(AuditRun);

export const AUDITS = listReading({
  name: "runs",
  line: AuditRun,
  filters: {},
  keyset: byNumber("number"),
  read: (database: Database, _query, { before, count }) =>
    new AuditRuns(database).list(before, count),
  toLine: (run: AuditRow) =>
    // Only workers write a report, by accounts/audit-json.ts.
    toJson({ ...run, account: run.accountId, report: run.report as WireOf<typeof AuditResult> }),
});

export type AuditsReply = PageOf<typeof AUDITS>;
