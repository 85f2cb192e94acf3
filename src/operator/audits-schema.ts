// Audits that operators ask for, and what they found.

import { before, list, reply, time, usd } from "../http/console/fields.ts";
import { type Checked, nullable, oneOf, optional, Type, text } from "../http/schema.ts";
import { ASK } from "./action-schema.ts";

const CLOSED = { additionalProperties: false } as const;

const Finding = Type.Object({ account: nullable(text()), message: text() });

const Report = Type.Object({
  ok: Type.Boolean({ description: "True if everything was proven" }),
  difference: nullable(Finding),
  differences: optional(
    Type.Array(Finding, { description: "One of each account that has any, the first 100" }),
  ),
  rejected: list(Finding),
  accounts: Type.Integer(),
  entries: Type.Integer({ description: "Ledger entries" }),
  open_holds: Type.Integer(),
  wallets_in_redis: Type.Integer(),
  balance_usd: usd("What all accounts own"),
  owed_usd: usd("What they owe"),
  credited_usd: usd("What operations gave"),
  reversed_usd: usd("What operations took"),
  repaid_usd: usd("What paid credit repaid of what was owed"),
  charged_usd: usd("What calls were charged"),
  expired_usd: usd("Free credit that ended"),
});

const Run = Type.Object({
  id: text(),
  account: nullable(text({ description: "Null for all accounts" })),
  actor: text(),
  state: oneOf(["waiting", "running", "ended", "failed"]),
  done: Type.Integer({ description: "Accounts that are proven" }),
  total: nullable(Type.Integer({ description: "Of how many" })),
  created_at: time("When"),
  ended_at: nullable(time("When")),
  report: nullable(Report),
  failure: nullable(text({ description: "Why it could not be finished" })),
});

export const AuditsQuery = Type.Object({ before }, CLOSED);
export const Audits = reply({ runs: list(Run), next: nullable(text()) });
export type AuditsReply = Checked<typeof Audits>;
export type AuditReportJson = Checked<typeof Report>;

export const AuditBody = Type.Object(
  { ...ASK, account: optional(text({ description: "All accounts if missing" })) },
  CLOSED,
);

export const AUDITS_EXAMPLE: AuditsReply = {
  runs: [
    {
      id: "op_7n42DGM5Tflk9n8m",
      account: null,
      actor: "ops@example.com",
      state: "ended",
      done: 1204,
      total: 1204,
      created_at: "2026-11-22T13:00:00.000Z",
      ended_at: "2026-11-22T13:00:21.000Z",
      report: {
        ok: true,
        difference: null,
        differences: [],
        rejected: [],
        accounts: 1204,
        entries: 812043,
        open_holds: 3,
        wallets_in_redis: 200,
        balance_usd: "9120.5",
        owed_usd: "0",
        credited_usd: "30000",
        reversed_usd: "25",
        repaid_usd: "0",
        charged_usd: "20854.5",
        expired_usd: "0",
      },
      failure: null,
    },
  ],
  next: null,
};
