import { findAccount, suspendBelowZero } from "../../accounts/administration.ts";
import { type AuditDeps, type AuditReport, audit } from "../../accounts/audit.ts";
import { type AuditFinding, describe } from "../../core/journal/audit-finding.ts";
import { dollars, type NanoUsd, toDecimal } from "../../core/money/money.ts";
import { counted } from "../../core/text/counted.ts";
import { auditPayments, type PaymentAudit } from "../../payments/provider-audit.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import { AuditRepository } from "../../store/audit/audit.ts";
import { type Answer, type Command, UsageError } from "../command.ts";
import { paymentsRead } from "../payments/top-up-commands.ts";
import type { Stores } from "../stores.ts";
import { idOf } from "../values.ts";

/** An operation that Redis has not applied within this time is a finding. */
const OPERATION_GRACE_MS = 30_000;

const auditCommand: Command = {
  name: "audit",
  positionals: ["[ID]"],
  summary: "Check that ledger, journal and wallets agree for one account or for all",
  options: {
    payments: { value: null, help: "compares the payments with the provider's list instead" },
  },
  prepare(input) {
    const id = input.positionals.length === 0 ? null : idOf(input, "account");
    if (input.values.has("payments")) {
      if (id !== null) throw new UsageError("--payments compares the payments of all accounts");
      return async (stores) => paymentsAnswer(await auditPayments(paymentsRead(stores)));
    }
    return async (stores) => {
      const account = id === null ? null : await findAccount(stores.administration, id);
      const report = await audit(auditDeps(stores), account);
      for (const { isBelowZero, account: found } of report.differences) {
        if (isBelowZero && found !== null) await suspendBelowZero(stores.administration, found);
      }
      return answerOf(id, report);
    };
  },
};

/** Audits one account. Changes nothing. */
export async function auditAccount(stores: Stores, account: AccountRow): Promise<Answer> {
  return answerOf(account.id, await audit(auditDeps(stores), account));
}

/** Audits all accounts and returns the findings in words. Changes nothing. */
export async function auditEverything(
  stores: Stores,
): Promise<{ readonly report: AuditReport; readonly problems: readonly string[] }> {
  const report = await audit(auditDeps(stores), null);
  const { differences, rejected } = report;
  return { report, problems: [...differences, ...rejected].map(describe) };
}

function paymentsAnswer({ compared, findings }: PaymentAudit): Answer {
  const json = { ok: findings.length === 0, payments: compared, differences: findings };
  if (findings.length === 0) {
    const text = `Clean: ${counted(compared, "payment")} of the provider are in the book.`;
    return { json, text };
  }
  const lines = findings.map(
    ({ ref, account, expected, found }) =>
      `Difference: ${ref} of ${account ?? "nobody"}: the provider has ${expected}, the book has ` +
      found,
  );
  return { json, text: lines.join("\n"), failed: true };
}

function auditDeps({ actors, database, flush }: Stores): AuditDeps {
  return {
    redis: actors.scripts.redis,
    repository: new AuditRepository(database),
    graceMs: OPERATION_GRACE_MS,
    flush,
    sleep: Bun.sleep,
  };
}

function answerOf(id: string | null, report: AuditReport): Answer {
  const { difference, differences, rejected, accounts, entries, openHolds, wallets } = report;
  const isSound = difference === null && rejected.length === 0;
  const json = {
    id,
    ok: isSound,
    difference: difference === null ? null : findingJson(difference),
    differences: differences.map(findingJson),
    rejected: rejected.map(findingJson),
    accounts,
    entries,
    balance_usd: number(report.balance),
    owed_usd: number(report.owed),
    credited_usd: number(report.credited),
    reversed_usd: number(report.reversed),
    repaid_usd: number(report.repaid),
    charged_usd: number(report.charged),
    expired_usd: number(report.expired),
    open_holds: openHolds,
    wallets_in_redis: wallets,
  };
  if (!isSound) {
    const lines = [
      ...differences.map((finding) => `Difference: ${describe(finding)}`),
      ...rejected.map((finding) => `Rejected: ${describe(finding)}`),
    ];
    return { json, text: lines.join("\n"), failed: true };
  }
  const parts = [
    counted(accounts, "account"),
    counted(entries, "ledger entry", "ledger entries"),
    `${dollars(report.balance)} in balances`,
    counted(openHolds, "open hold"),
  ];
  return { json, text: `Clean: ${parts.join(", ")}.` };
}

function findingJson({ account, bucket, seq, fact, expected, found }: AuditFinding) {
  const finding = { account, bucket, seq, fact, expected, found };
  return { ...finding, message: describe(finding) };
}

/** A sum over all accounts may exceed the range that `toJsonNumber` allows. */
function number(amount: bigint): object {
  return (JSON as unknown as { rawJSON(text: string): object }).rawJSON(
    toDecimal(amount as NanoUsd),
  );
}

export const auditCommands: readonly Command[] = [auditCommand];
