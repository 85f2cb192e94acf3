// A world with a busy past, and the means to audit it and to damage it.

import { type AuditDeps, type AuditReport, audit } from "../../src/accounts/audit.ts";
import { auditAccount } from "../../src/accounts/audit-account.ts";
import { describe as inWords } from "../../src/core/audit-finding.ts";
import type { NanoUsd } from "../../src/core/money.ts";
import { AuditRepository } from "../../src/store/audit.ts";
import { DONE, hold, openAccount, type TestAccount, usd, type World } from "../support/world.ts";

/** The audit as the tool runs it, looking again without waiting long. */
export function auditDeps(world: World): AuditDeps {
  return {
    redis: world.redis,
    repository: new AuditRepository(world.database),
    graceMs: 30_000,
    flush: async () => {
      await world.flush();
      return [];
    },
    sleep: () => Bun.sleep(5),
  };
}

export function auditOne(world: World, account: TestAccount): Promise<AuditReport> {
  return audit(auditDeps(world), account.row);
}

/** The difference found in one account, in words; "" where there is none. */
export async function found(world: World, account: TestAccount): Promise<string> {
  const { difference } = await auditOne(world, account);
  return difference === null ? "" : inWords(difference);
}

/** The same from a single look, without a flush before it. */
export async function foundAtOnce(world: World, account: TestAccount): Promise<string> {
  const { difference } = await auditAccount(auditDeps(world), account.row);
  return difference === null ? "" : inWords(difference);
}

/** An account with a payment, a few settled calls, one of them free, and one open hold. */
export async function busyAccount(world: World, open = true): Promise<TestAccount> {
  const account = await openAccount(world, { paid: usd("20") });
  await account.actor.applyCredits();
  await account.actor.configure();
  for (const cost of ["4.5", "1.25", "0.000000001"]) {
    await (await hold(account, usd("5"))).settle(usd(cost), DONE);
  }
  await (await hold(account, usd("1"))).release(DONE);
  if (open) await hold(account, usd("2"), { stream: true });
  await world.flush();
  return account;
}

/** Runs statements on an account's rows with the guards of the tables off. */
export async function damageBook(
  world: World,
  account: TestAccount,
  statement: (account: number) => string,
): Promise<void> {
  await world.database.sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`ALTER TABLE ledger_entries DROP CONSTRAINT IF EXISTS ledger_never_negative`;
    await tx.unsafe(statement(account.row.number));
  });
}

export async function charge(account: TestAccount, cost: NanoUsd): Promise<void> {
  await (await hold(account, cost)).settle(cost, DONE);
}
