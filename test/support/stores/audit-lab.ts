// Makes a world with a busy past, and audits and damages it.

import { holdsKey } from "../../../actors/records/keys.ts";
import { type AuditDeps, type AuditReport, audit } from "../../../src/accounts/audit.ts";
import { auditAccount } from "../../../src/accounts/audit-account.ts";
import { describe as inWords } from "../../../src/core/journal/audit-finding.ts";
import type { NanoUsd } from "../../../src/core/money/money.ts";
import { AuditRepository } from "../../../src/store/audit/audit.ts";
import type { AccountTerms, TestAccount } from "./accounts.ts";
import { DONE, hold, openAccount, openAccountAlone, usd, type World } from "./world.ts";

/** The audit with the tool's settings, but with short waits between its looks. */
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

/** The finding about one account, in words; "" without one. */
export async function found(world: World, account: TestAccount): Promise<string> {
  const { difference } = await auditOne(world, account);
  return difference === null ? "" : inWords(difference);
}

/** The finding of a single look, without a flush before it. */
export async function foundAtOnce(world: World, account: TestAccount): Promise<string> {
  const deps = auditDeps(world);
  const proof = await auditAccount(deps, account.row);
  const wrong = await deps.repository.bookMismatches([account.row]);
  const difference = proof.difference ?? wrong.get(account.id);
  return difference === undefined ? "" : inWords(difference);
}

/** An account with a payment, a few settled calls, one of them free, and one open hold. */
export async function busyAccount(world: World, open = true): Promise<TestAccount> {
  return await makeBusy(world, await openAccount(world, { paid: "20" }), open);
}

/** A busy account that can be damaged without harm to another account of this kind. */
export async function busyAccountAlone(world: World): Promise<TestAccount> {
  return await makeBusy(world, await openAccountAlone(world, { paid: "20" }), true);
}

async function makeBusy(world: World, account: TestAccount, open: boolean): Promise<TestAccount> {
  await account.actor.applyOperations();
  await account.actor.configure();
  for (const cost of ["4.5", "1.25", "0.000000001"]) {
    await (await hold(account, usd("5"))).settle(usd(cost), DONE);
  }
  await (await hold(account, usd("1"))).release(DONE);
  if (open) await hold(account, usd("2"), { stream: true });
  await world.flush();
  return account;
}

/**
 * An account that owes $3: $20 were refunded, of which $17.25 were available and a call holds $2.
 */
export async function owingAccount(world: World): Promise<TestAccount> {
  const account = await busyAccountAlone(world);
  const [payment] = await world.payments.list(account.row);
  if (payment === undefined) throw new Error("There is no payment");
  const terms = { actor: "operator", reason: "refund", reference: null };
  await world.payments.change(payment.id, {
    terms,
    decide: ({ amount }) => ({ refunded: amount }),
  });
  await account.actor.applyOperations();
  await account.actor.configure();
  return account;
}

/**
 * An account in a bucket that was rebuilt, after Postgres had refused the ledger row of a gift of
 * $3. The account has spent one cent of its free credit.
 */
export async function rebuiltWithoutGift(
  world: World,
  accountTerms: AccountTerms = {},
): Promise<TestAccount> {
  const account = await openAccountAlone(world, accountTerms);
  await (await hold(account, usd("0.02"))).settle(usd("0.01"), DONE);
  await world.flush();
  const terms = { kind: "adjustment", amount: usd("3"), reason: "gift", reference: null } as const;
  await world.store.adjust(account.row, terms);
  await account.actor.applyOperations();
  await flushWithout(world, "paid_delta = 3000000000");
  await world.accounts.rebuild([{ bucket: account.row.bucket }]);
  return account;
}

/** Runs statements on an account's rows while the guards of the tables are off. */
export async function damageLedger(
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

/** The places of amounts in the packed wallet, and in a key's state (actors/records/records.ts). */
export const WALLET_PAID = 4;

/** Adds to one of the doubles of a packed record, by its place in the record. */
export async function addToRecord(
  { redis }: World,
  key: string,
  place: number,
  by: number,
): Promise<void> {
  const bytes = await redis.getBuffer(key);
  if (bytes === null) throw new Error(`There is no record ${key}`);
  bytes.writeDoubleLE(bytes.readDoubleLE(place * 8) + by, place * 8);
  await redis.set(key, bytes);
}

/** Ends every lease of the account's bucket, with the holds of their processes. */
export async function forgetHolds({ redis }: World, { actor, row }: TestAccount): Promise<void> {
  const { leases } = actor.keys;
  const owners = await redis.hkeys(leases);
  await redis.del(leases, ...owners.map((owner) => holdsKey(row.bucket, owner)));
}

export async function charge(account: TestAccount, cost: NanoUsd): Promise<void> {
  await (await hold(account, cost)).settle(cost, DONE);
}

/** Flushes to a Postgres that refuses ledger rows with this condition. */
export async function flushWithout(world: World, condition: string): Promise<void> {
  const { sql } = world.database;
  const odd = `CHECK (NOT (${condition})) NOT VALID`;
  await sql.unsafe(`ALTER TABLE ledger_entries ADD CONSTRAINT odd ${odd}`);
  await world.flush();
  await sql`ALTER TABLE ledger_entries DROP CONSTRAINT odd`;
}
