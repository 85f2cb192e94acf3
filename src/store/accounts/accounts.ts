// Changes of accounts and keys. Each change is one transaction, which also raises the version of
// the access document so that every process notices. The caller then writes the document to Redis.

import { and, eq, isNull } from "drizzle-orm";
import type { AccountState } from "../../core/access/account-states.ts";
import type { KeyRates, ModelPatterns } from "../../core/access/key-limits.ts";
import { keyDigest, newKey } from "../../core/access/keys.ts";
import {
  FREE_CREDIT,
  FREE_CREDIT_DAYS,
  type PlanName,
  type Scope,
} from "../../core/access/limits.ts";
import type { Surface } from "../../core/access/services.ts";
import { DAY_MS } from "../../core/durations.ts";
import { bucketOf, newId, type RandomBytes } from "../../core/ids.ts";
import { dollars, type NanoUsd, nano } from "../../core/money/money.ts";
import { type SecretList, secretId } from "../../core/secrets.ts";
import {
  bookOperation,
  findOperation,
  lockAccount,
  type OperationRow,
  ReferenceReused,
  raiseVersion,
  refuseSetAside,
} from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import type { Transaction } from "../servers/transaction.ts";
import { accounts, keys, operations, payments } from "../tables/account-schema.ts";
import { deleteReceiversIn } from "../webhooks/receiver-ends.ts";
import { refuseTooManyKeys, refuseTooManyPatterns } from "./key-limits.ts";
import { endSubscriptionIn, hasMonthlyPlan } from "./plan-ends.ts";

/** The id of an account and the bucket of its keys in Redis. */
export interface AccountRef {
  readonly id: string;
  readonly bucket: number;
}

/** An account without the versions of its access document. */
export type AccountRow = Readonly<
  Omit<typeof accounts.$inferSelect, "version" | "appliedVersion" | "changedAt">
>;

/** The result of a sign-up for free credit (D-231). */
export type SignUpGrant = NonNullable<AccountRow["signUpGrant"]>;

export interface NewKey extends Partial<KeyRates> {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly ipAllowlist: readonly string[];
  readonly monthlyLimit: NanoUsd | null;
  /** Null, as if it is missing, for a key without an end. */
  readonly endsAt?: Date | null;
  /** The patterns of the models that it may call; null, as if it is missing, for every model. */
  readonly models?: ModelPatterns;
  /** None if missing. */
  readonly tags?: readonly string[];
  /** For a key of the playground: when it ends, and the session that it ends with. */
  readonly expiresAt?: Date;
  readonly session?: string;
}

type StoredKey = Readonly<typeof keys.$inferSelect>;

/** A key without its digest, for people. */
export interface KeyRow
  extends Omit<StoredKey, "number" | "account" | "digest" | "pepper" | "expiresAt" | "session"> {
  readonly monthlyLimit: NanoUsd | null;
}

export interface AccountChange {
  readonly state?: AccountState;
  readonly stateReason?: string | null;
  readonly contract?: "enterprise" | null;
  readonly plan?: PlanName;
  readonly ownCap?: NanoUsd | null;
  readonly name?: string;
  readonly mailDomain?: string | null;
}

/** The facts besides the account's row that decide about a change. */
export interface ChangeFacts {
  readonly hasOpenDispute: boolean;
  /** The account's plan is paid by the month, or is back if its refund fails. */
  readonly hasMonthlyPlan: boolean;
}

/** When a change of an account is made. */
interface ChangeTime {
  readonly now: Date;
  /** Runs in the transaction, only with a change. */
  readonly also?: AlsoInTransaction | undefined;
}

export interface NewAccount {
  readonly surface: Surface;
  readonly email: string | null;
  /** Only for an application account; Free by default. */
  readonly plan?: PlanName;
  readonly name?: string | null;
  /** By default the domain of `email`. */
  readonly mailDomain?: string | null;
  /** False for a Gateway account that begins without the free credit of SPEC 3.3. */
  readonly freeCredit?: boolean;
}

/** A change of the balance, or of the amount owed, by an operator. */
export interface Adjustment {
  readonly kind: "adjustment" | "forgiven";
  /** Negative for an adjustment that takes credit away. */
  readonly amount: NanoUsd;
  readonly reason: string;
  /** The operator's own id, which makes a repeated request harmless. */
  readonly reference: string | null;
}

/** A key with its secret, while it is made. */
export interface IssuedKey {
  readonly id: string;
  readonly secret: string;
}

/**
 * Work in the transaction of a change, such as the line of its author. `key` is the key that the
 * change makes.
 */
export type AlsoInTransaction = (
  tx: Transaction,
  account: number,
  key?: IssuedKey,
) => Promise<void>;

/** The account is closed permanently: it accepts no key, no credit and no change. */
export class AccountClosed extends Error {
  override readonly name = "AccountClosed";
}

export interface AccountsDeps {
  readonly database: Database;
  readonly random: RandomBytes;
  /** The current pepper. */
  readonly keyPepper: string;
  /** The earlier peppers that still count. */
  readonly earlierPeppers?: readonly string[];
}

export class Accounts {
  constructor(readonly deps: AccountsDeps) {}

  /** The peppers, the current one first. */
  get peppers(): SecretList {
    const { keyPepper, earlierPeppers = [] } = this.deps;
    return [keyPepper, ...earlierPeppers];
  }

  /**
   * Creates an account. A Gateway account gets the free credit of SPEC 3.3, unless the terms
   * exclude it.
   */
  async create(account: NewAccount, now: Date, also?: AlsoInTransaction): Promise<AccountRef> {
    const { surface, freeCredit = true } = account;
    return await this.deps.database.db.transaction(async (tx) => {
      const row = await insertAccount(tx, account, { random: this.deps.random, now });
      if (surface === "gateway" && freeCredit) await bookFreeCredit(tx, row.number, { now });
      await also?.(tx, row.number);
      return { id: row.id, bucket: row.bucket };
    });
  }

  /** Null if there is no such account. */
  async find(id: string): Promise<AccountRow | null> {
    const [row] = await this.deps.database.db.select().from(accounts).where(eq(accounts.id, id));
    return row ?? null;
  }

  async list(): Promise<AccountRow[]> {
    return await this.deps.database.db.select().from(accounts).orderBy(accounts.number);
  }

  /** The keys that people made, without those of the playground. */
  async listKeys(account: AccountRow): Promise<KeyRow[]> {
    const rows = await this.deps.database.db
      .select()
      .from(keys)
      .where(and(eq(keys.account, account.number), isNull(keys.expiresAt)))
      .orderBy(keys.number);
    return rows.map(keyRow);
  }

  /** Changes the account. Closing it also revokes all its keys (SPEC 5.7). */
  async change(account: AccountRow, change: AccountChange, now: Date): Promise<void> {
    await this.decide(account.id, () => change, { now });
  }

  /**
   * Locks the account, calls `decide` and makes the change that it returns; null changes nothing.
   * Returns the account after the change, or null if there is no account with this id.
   */
  async decide(
    id: string,
    decide: (account: AccountRow, facts: ChangeFacts) => AccountChange | null,
    { now, also }: ChangeTime,
  ): Promise<AccountRow | null> {
    return await this.deps.database.db.transaction(async (tx) => {
      const [row] = await tx.select().from(accounts).where(eq(accounts.id, id)).for("update");
      if (row === undefined) return null;
      const { number } = row;
      const change = decide(row, {
        hasOpenDispute: await hasOpenDispute(tx, number),
        hasMonthlyPlan: await hasMonthlyPlan(tx, number),
      });
      if (change === null) return row;
      await tx.update(accounts).set(change).where(eq(accounts.number, number));
      if (change.state === "closed") {
        const live = and(eq(keys.account, number), isNull(keys.revokedAt));
        await tx.update(keys).set({ revokedAt: now }).where(live);
        await endSubscriptionIn(tx, number, { reason: "closed", now });
        await deleteReceiversIn(tx, number);
      }
      // From now on the account has the operator's plan, which is not charged.
      if (change.plan !== undefined) {
        await endSubscriptionIn(tx, number, { reason: "operator", now });
      }
      await raiseVersion(tx, number);
      await also?.(tx, number);
      return { ...row, ...change };
    });
  }

  /**
   * Creates a key. The secret is returned once and stored nowhere.
   * @throws AccountClosed, TooManyKeys
   */
  async createKey(account: AccountRow, key: NewKey, also?: AlsoInTransaction): Promise<IssuedKey> {
    const id = newId("key", this.deps.random);
    const secret = newKey(account.surface, this.deps.random);
    await this.deps.database.db.transaction(async (tx) => {
      refuseClosed(await lockAccount(tx, account.number));
      // Keys of the playground are few, and end by themselves.
      if (key.session === undefined) await refuseTooManyKeys(tx, account.number, key);
      await refuseTooManyPatterns(tx, account.number, { keyId: id, models: key.models ?? null });
      await raiseVersion(tx, account.number);
      await tx.insert(keys).values({
        ...key,
        id,
        account: account.number,
        digest: keyDigest(secret, this.deps.keyPepper),
        pepper: secretId("KEY_PEPPER", this.deps.keyPepper),
        scopes: [...key.scopes],
        ipAllowlist: [...key.ipAllowlist],
        models: key.models == null ? null : [...key.models],
        tags: [...(key.tags ?? [])],
        lastFour: secret.slice(-4),
      });
      await also?.(tx, account.number, { id, secret });
    });
    return { id, secret };
  }

  /** Revokes a key; null if there is no such key. Revoking it again changes nothing. */
  async revokeKey(keyId: string, now: Date, also?: AlsoInTransaction): Promise<AccountRef | null> {
    return await this.deps.database.db.transaction(async (tx) => {
      const [row] = await tx
        .select({ number: accounts.number, id: accounts.id, bucket: accounts.bucket })
        .from(keys)
        .innerJoin(accounts, eq(accounts.number, keys.account))
        .where(eq(keys.id, keyId));
      if (row === undefined) return null;
      // Lock the account first, as everywhere: the opposite order could deadlock with `change`.
      await lockAccount(tx, row.number);
      const revoked = await tx
        .update(keys)
        .set({ revokedAt: now })
        .where(and(eq(keys.id, keyId), isNull(keys.revokedAt)))
        .returning({ id: keys.id });
      if (revoked.length > 0) {
        await raiseVersion(tx, row.number);
        await also?.(tx, row.number);
      }
      return { id: row.id, bucket: row.bucket };
    });
  }

  /**
   * Books an adjustment, or forgives an amount owed. With a reference that was used before, returns
   * the operation booked then. A closed account accepts an adjustment only if it takes credit away.
   * @throws AccountClosed, BalanceTooLarge, OperationSetAside, ReferenceReused
   */
  async adjust(
    account: AccountRow,
    adjustment: Adjustment,
    also?: AlsoInTransaction,
  ): Promise<OperationRow> {
    const { number } = account;
    const { kind, amount, reference } = adjustment;
    return await this.deps.database.db.transaction(async (tx) => {
      const locked = await lockAccount(tx, number);
      const first = reference === null ? null : await findOperation(tx, number, reference);
      if (first !== null) {
        const isSame = first.amount === amount && first.reason === adjustment.reason;
        if (first.kind === kind && isSame) {
          await refuseSetAside(tx, number, first);
          return first;
        }
        throw new ReferenceReused(
          `The reference '${reference}' stands for another change: ${first.kind} of ` +
            `${dollars(first.amount)}${first.reason === null ? "" : `, '${first.reason}'`}`,
        );
      }
      if (kind === "adjustment" && amount > 0n) refuseClosed(locked);
      const terms = { ...adjustment, balance: "paid", actor: "operator" } as const;
      const booked = await bookOperation(tx, number, terms);
      await also?.(tx, number);
      return booked;
    });
  }
}

/** The key of a row. */
export function keyRow(row: StoredKey): KeyRow {
  const { id, name, scopes, ipAllowlist, lastFour, createdAt, revokedAt, lastUsedAt } = row;
  const { disabledAt, endsAt, models, tags } = row;
  const { requestsPerMinute, requestsPerDay, tokensPerMinute, tokensPerDay } = row;
  const monthlyLimit = row.monthlyLimit === null ? null : nano(row.monthlyLimit);
  const limits = { monthlyLimit, disabledAt, endsAt, models, tags };
  const rates = { requestsPerMinute, requestsPerDay, tokensPerMinute, tokensPerDay };
  const state = { createdAt, revokedAt, lastUsedAt };
  return { id, name, scopes, ipAllowlist, lastFour, ...state, ...limits, ...rates };
}

/** True if any payment of the account has an open dispute. */
export async function hasOpenDispute(tx: Transaction, account: number): Promise<boolean> {
  const open = await tx
    .select({ number: payments.number })
    .from(payments)
    .where(and(eq(payments.account, account), eq(payments.dispute, "open")))
    .limit(1);
  return open.length > 0;
}

/** @throws AccountClosed */
export function refuseClosed(account: Pick<AccountRow, "state"> | null): void {
  if (account?.state === "closed") throw new AccountClosed("The account is closed");
}

/** Inserts an account without any credit. */
export async function insertAccount(
  tx: Transaction,
  { surface, email, plan, name = null, mailDomain = domainOf(email) }: NewAccount,
  { random, now }: { readonly random: RandomBytes; readonly now: Date },
): Promise<AccountRow> {
  const id = newId("account", random);
  const accountPlan = surface === "application" ? (plan ?? "free") : null;
  const bucket = bucketOf(id);
  const values = { id, bucket, surface, email, name, mailDomain, plan: accountPlan };
  const [row] = await tx
    .insert(accounts)
    .values({ ...values, createdAt: now })
    .returning();
  if (row === undefined) throw new Error(`The account ${id} was not stored`);
  return row;
}

function domainOf(email: string | null): string | null {
  return email?.slice(email.lastIndexOf("@") + 1) ?? null;
}

/** Books the free credit of a new Gateway account. The account's row must be locked, or new. */
export async function bookFreeCredit(
  tx: Transaction,
  account: number,
  { now, actor = "system" }: { readonly now: Date; readonly actor?: string },
): Promise<void> {
  await bookOperation(tx, account, {
    kind: "credit",
    balance: "free",
    amount: FREE_CREDIT,
    actor,
    expiresAt: new Date(now.getTime() + FREE_CREDIT_DAYS * DAY_MS),
    createdAt: now,
  });
}

/** Books free credit for a Gateway account that had none but of vouchers; says why not. */
export async function grantFreeCredit(
  { db }: Database,
  { number }: Pick<AccountRow, "number">,
  { now, also }: ChangeTime,
): Promise<"granted" | "had_some" | "closed" | "application"> {
  return await db.transaction(async (tx) => {
    const account = await lockAccount(tx, number);
    if (account?.surface !== "gateway") return "application";
    if (account.state === "closed") return "closed";
    const [earlier] = await tx
      .select({ number: operations.number })
      .from(operations)
      .where(
        and(
          eq(operations.account, number),
          eq(operations.balance, "free"),
          // Free credit of vouchers has a reference.
          isNull(operations.reference),
        ),
      )
      .limit(1);
    if (earlier !== undefined) return "had_some";
    await bookFreeCredit(tx, number, { now, actor: "operator" });
    if (account.signUpGrant !== null) {
      await tx.update(accounts).set({ signUpGrant: "granted" }).where(eq(accounts.number, number));
    }
    await also?.(tx, number);
    return "granted";
  });
}
