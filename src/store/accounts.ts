// Changes to accounts, keys and payments. Each is one transaction that also raises the version of
// the access document, so that Redis and every process take notice; the caller then hands it to
// Redis.

import { and, asc, eq, isNull, sql } from "drizzle-orm";
import type { AccountState } from "../core/access.ts";
import { bucketOf, newId, type RandomBytes } from "../core/ids.ts";
import { keyDigest, newKey, type Surface } from "../core/keys.ts";
import {
  DAY_MS,
  FREE_CREDIT,
  FREE_CREDIT_DAYS,
  type PlanName,
  type Scope,
} from "../core/limits.ts";
import type { NanoUsd } from "../core/money.ts";
import { nextCredit } from "./allowance.ts";
import { refuseTooLarge } from "./balance-limit.ts";
import type { Database } from "./database.ts";
import { accounts, credits, keys, payments } from "./schema.ts";

export interface AccountPlace {
  readonly id: string;
  readonly bucket: number;
}

export interface AccountRow extends AccountPlace {
  readonly number: number;
  readonly surface: Surface;
  readonly email: string | null;
  readonly state: AccountState;
  readonly stateReason: string | null;
  readonly contract: "enterprise" | null;
  /** Null for a Gateway account. */
  readonly plan: PlanName | null;
  readonly ownCap: bigint | null;
  readonly createdAt: Date;
}

export interface NewKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly ipAllowlist: readonly string[];
  readonly monthlyLimit: NanoUsd | null;
}

export interface KeyRow extends NewKey {
  readonly id: string;
  readonly lastFour: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

export interface AccountChange {
  readonly state?: AccountState;
  readonly stateReason?: string | null;
  readonly contract?: "enterprise" | null;
  readonly plan?: PlanName;
  readonly ownCap?: NanoUsd | null;
}

export interface NewAccount {
  readonly surface: Surface;
  readonly email: string | null;
  /** Of an application account; Free unless it is said. */
  readonly plan?: PlanName;
}

export interface PaymentRow {
  readonly id: string;
  readonly amount: bigint;
  readonly refunded: bigint;
  readonly paidAt: Date;
}

/** A closed account stays closed: it takes no key, no payment and no change. */
export class AccountClosed extends Error {
  override readonly name = "AccountClosed";
}

type Tx = Parameters<Parameters<Database["db"]["transaction"]>[0]>[0];

export interface AccountsDeps {
  readonly database: Database;
  readonly random: RandomBytes;
  readonly keyPepper: string;
}

export class Accounts {
  constructor(readonly deps: AccountsDeps) {}

  /** A new account; one of the Gateway comes with the free credit of SPEC 3.3. */
  async create({ surface, email, plan }: NewAccount, now: Date): Promise<AccountPlace> {
    const onPlan = surface === "application" ? (plan ?? "free") : null;
    const id = newId("account", this.deps.random);
    const bucket = bucketOf(id);
    await this.deps.database.db.transaction(async (tx) => {
      const [row] = await tx
        .insert(accounts)
        .values({ id, bucket, surface, email, plan: onPlan, createdAt: now })
        .returning({ number: accounts.number });
      if (row === undefined || surface !== "gateway") return;
      await tx.insert(credits).values({
        account: row.number,
        number: 1,
        purse: "free",
        amount: FREE_CREDIT,
        expiresAt: new Date(now.getTime() + FREE_CREDIT_DAYS * DAY_MS),
        createdAt: now,
      });
    });
    return { id, bucket };
  }

  /** Null when there is no such account. */
  async find(id: string): Promise<AccountRow | null> {
    const [row] = await this.deps.database.db.select().from(accounts).where(eq(accounts.id, id));
    return row ?? null;
  }

  async list(): Promise<AccountRow[]> {
    return await this.deps.database.db.select().from(accounts).orderBy(accounts.number);
  }

  async listKeys(account: AccountRow): Promise<KeyRow[]> {
    const rows = await this.deps.database.db
      .select()
      .from(keys)
      .where(eq(keys.account, account.number))
      .orderBy(keys.number);
    return rows as unknown as KeyRow[];
  }

  async listPayments(account: AccountRow): Promise<PaymentRow[]> {
    return await this.deps.database.db
      .select()
      .from(payments)
      .where(eq(payments.account, account.number))
      .orderBy(asc(payments.paidAt), asc(payments.number));
  }

  /** Changes what decides access. Closing also revokes every key (SPEC 5.7). */
  async change(account: AccountRow, change: AccountChange, now: Date): Promise<void> {
    await this.decide(account.id, now, () => change);
  }

  /**
   * Shows `decide` the account as nobody else can change it meanwhile, and makes the change that it
   * answers, or none. Returns the account as it is then; null when there is none of this id.
   */
  async decide(
    id: string,
    now: Date,
    decide: (account: AccountRow) => AccountChange | null,
  ): Promise<AccountRow | null> {
    return await this.deps.database.db.transaction(async (tx) => {
      const [row] = await tx.select().from(accounts).where(eq(accounts.id, id)).for("update");
      if (row === undefined) return null;
      const change = decide(row);
      if (change === null) return row;
      const { number } = row;
      await tx.update(accounts).set(change).where(eq(accounts.number, number));
      if (change.state === "closed") {
        const live = and(eq(keys.account, number), isNull(keys.revokedAt));
        await tx.update(keys).set({ revokedAt: now }).where(live);
      }
      await raiseVersion(tx, number);
      return { ...row, ...change };
    });
  }

  /**
   * A new key of the account. The secret is returned once and stored nowhere.
   * @throws AccountClosed
   */
  async createKey(account: AccountRow, key: NewKey): Promise<{ id: string; secret: string }> {
    const id = newId("key", this.deps.random);
    const secret = newKey(account.surface, this.deps.random);
    await this.deps.database.db.transaction(async (tx) => {
      refuseClosed(await raiseVersion(tx, account.number));
      await tx.insert(keys).values({
        ...key,
        id,
        account: account.number,
        digest: keyDigest(secret, this.deps.keyPepper),
        scopes: [...key.scopes],
        ipAllowlist: [...key.ipAllowlist],
        lastFour: secret.slice(-4),
      });
    });
    return { id, secret };
  }

  /** Revokes a key; null when there is none of this id. Doing it again changes nothing. */
  async revokeKey(keyId: string, now: Date): Promise<AccountPlace | null> {
    return await this.deps.database.db.transaction(async (tx) => {
      const [row] = await tx
        .select({ number: accounts.number, id: accounts.id, bucket: accounts.bucket })
        .from(keys)
        .innerJoin(accounts, eq(accounts.number, keys.account))
        .where(eq(keys.id, keyId));
      if (row === undefined) return null;
      // The account first, as everywhere: a closing at the same time must not wait in a circle.
      await raiseVersion(tx, row.number);
      await tx
        .update(keys)
        .set({ revokedAt: now })
        .where(and(eq(keys.id, keyId), isNull(keys.revokedAt)));
      return { id: row.id, bucket: row.bucket };
    });
  }

  /**
   * Books a payment and the credit it buys. It counts for the tier from `paidAt` on.
   * @throws AccountClosed, BalanceTooLarge
   */
  async recordPayment(
    account: AccountRow,
    payment: { readonly amount: NanoUsd; readonly paidAt: Date },
  ): Promise<{ readonly id: string; readonly credit: number }> {
    const id = newId("payment", this.deps.random);
    return await this.deps.database.db.transaction(async (tx) => {
      // The row lock makes credit numbers follow each other without gaps.
      refuseClosed(await raiseVersion(tx, account.number));
      await refuseTooLarge(tx, account.number, payment.amount);
      const [paid] = await tx
        .insert(payments)
        .values({ id, account: account.number, ...payment })
        .returning({ number: payments.number });
      const number = await nextCredit(tx, account.number);
      await tx.insert(credits).values({
        account: account.number,
        number,
        purse: "paid",
        amount: payment.amount,
        payment: paid?.number ?? null,
      });
      return { id, credit: number };
    });
  }
}

/** Takes the account's row lock; what it returns is true until the transaction ends. */
async function raiseVersion(tx: Tx, account: number): Promise<AccountState | undefined> {
  const [row] = await tx
    .update(accounts)
    .set({ version: sql`${accounts.version} + 1`, changedAt: sql`now()` })
    .where(eq(accounts.number, account))
    .returning({ state: accounts.state });
  return row?.state;
}

function refuseClosed(state: AccountState | undefined): void {
  if (state === "closed") throw new AccountClosed("The account is closed");
}
