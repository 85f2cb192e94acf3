// Makes accounts of tests, for every world, in Postgres by the stores of the product. Redis learns
// of an account when it is first used, or when the world says so.

import type { AccountActor } from "../../../actors/account-actor.ts";
import type { StandingSpan } from "../../../src/core/access/budgets.ts";
import type { KeyRates } from "../../../src/core/access/key-limits.ts";
import { FREE_CREDIT_DAYS, type PlanName, type Scope } from "../../../src/core/access/limits.ts";
import { type Surface, scopesOfSurface } from "../../../src/core/access/services.ts";
import { DAY_MS } from "../../../src/core/durations.ts";
import { type NanoUsd, nano, usd } from "../../../src/core/money/money.ts";
import type {
  AccountChange,
  AccountRow,
  Accounts,
  IssuedKey,
} from "../../../src/store/accounts/accounts.ts";
import { setBudget } from "../../../src/store/accounts/budgets.ts";
import { bookOperation, lockAccount } from "../../../src/store/ledger/operations.ts";
import type { Payments } from "../../../src/store/payments/payments.ts";

export interface KeyTerms extends Partial<KeyRates> {
  /** By default every scope of the surface. */
  readonly scopes?: readonly Scope[];
  readonly ip?: readonly string[];
  readonly monthlyLimit?: string;
  readonly models?: readonly string[];
  readonly endsAt?: Date;
  /** Budgets of the key by span. */
  readonly keyBudgets?: Readonly<Partial<Record<StandingSpan, string>>>;
}

/** Amounts are in dollars. */
export interface AccountTerms extends KeyTerms {
  readonly surface?: Surface;
  /** For an application account; by default Free. */
  readonly plan?: PlanName;
  readonly contract?: "enterprise";
  /** The address of its holder; by default unknown. */
  readonly email?: string;
  readonly createdAt?: Date;
  /** A payment; payments also make the tier. */
  readonly paid?: string;
  readonly paidAt?: Date;
  /** Free credit; by default the credit of a new account of its surface. */
  readonly free?: string;
  /** A reversal of this amount: the part beyond the balance is owed. */
  readonly reversed?: string;
  readonly ownCap?: string;
  /** Budgets of the account by span. */
  readonly budgets?: Readonly<Partial<Record<StandingSpan, string>>>;
  readonly state?: "suspended" | "closed";
  readonly stateReason?: string;
}

/** An account and its key, as Postgres stores them. */
export interface StoredAccount {
  readonly id: string;
  readonly bucket: number;
  readonly row: AccountRow;
  readonly keyId: string;
  /** The secret of the key. */
  readonly key: string;
  /** True if budgets count the calls of the key. */
  readonly hasBudgets: boolean;
}

export interface TestAccount extends StoredAccount {
  readonly actor: AccountActor;
}

export interface AccountStores {
  readonly accounts: Accounts;
  readonly payments: Payments;
}

/** A new account with one key. */
export async function createTestAccount(
  stores: AccountStores,
  terms: AccountTerms = {},
): Promise<StoredAccount> {
  const { accounts, payments } = stores;
  const { surface = "gateway", email = null, plan, createdAt = new Date() } = terms;
  const freeCredit = terms.free === undefined;
  const asked = { surface, email, freeCredit, ...(plan !== undefined && { plan }) };
  const { id, bucket } = await accounts.create(asked, createdAt);
  const created = await rowOf(accounts, id);
  const key = await createTestKey(accounts, created, terms);
  if (terms.paid !== undefined) {
    const payment = { amount: usd(terms.paid), paidAt: terms.paidAt ?? new Date() };
    await payments.record(created, payment);
  }
  await bookExtraordinary(stores, created, terms);
  await setBudgets(accounts, created, { key: null, of: terms.budgets });
  const change = changeOf(terms);
  if (change !== null) await accounts.change(created, change, new Date());
  const row = change === null ? created : await rowOf(accounts, id);
  const hasBudgets = terms.budgets !== undefined || terms.keyBudgets !== undefined;
  return { id, bucket, row, keyId: key.id, key: key.secret, hasBudgets };
}

/** Another key of an account. */
export async function createTestKey(
  accounts: Accounts,
  account: AccountRow,
  terms: KeyTerms = {},
): Promise<IssuedKey> {
  const key = await accounts.createKey(account, {
    name: "test key",
    scopes: terms.scopes ?? scopesOfSurface(account.surface),
    ipAllowlist: terms.ip ?? [],
    monthlyLimit: usdOrNull(terms.monthlyLimit),
    models: terms.models ?? null,
    endsAt: terms.endsAt ?? null,
    requestsPerMinute: terms.requestsPerMinute ?? null,
    requestsPerDay: terms.requestsPerDay ?? null,
    tokensPerMinute: terms.tokensPerMinute ?? null,
    tokensPerDay: terms.tokensPerDay ?? null,
  });
  await setBudgets(accounts, account, { key: key.id, of: terms.keyBudgets });
  return key;
}

async function setBudgets(
  { deps: { database } }: Accounts,
  { number }: AccountRow,
  { key, of = {} }: { readonly key: string | null; readonly of: AccountTerms["budgets"] },
): Promise<void> {
  for (const [span, amount] of Object.entries(of)) {
    await setBudget(database, number, { key, span: span as StandingSpan, amount: usd(amount) });
  }
}

/**
 * Books changes that the use cases do not make at once: free credit of any amount, and a debt
 * without calls.
 */
async function bookExtraordinary(
  { accounts }: AccountStores,
  { number }: AccountRow,
  { free, reversed }: AccountTerms,
): Promise<void> {
  const [credit, reversal] = [usd(free ?? "0"), usd(reversed ?? "0")];
  if (credit === 0n && reversal === 0n) return;
  await accounts.deps.database.db.transaction(async (tx) => {
    await lockAccount(tx, number);
    if (credit > 0n) {
      const expiresAt = new Date(Date.now() + FREE_CREDIT_DAYS * DAY_MS);
      const terms = { balance: "free", amount: credit, expiresAt } as const;
      await bookOperation(tx, number, { kind: "credit", actor: "test", ...terms });
    }
    if (reversal > 0n) {
      const terms = { balance: "paid", amount: nano(-reversal) } as const;
      await bookOperation(tx, number, { kind: "reversal", actor: "test", ...terms });
    }
  });
}

/** Null if the account is as it was created. */
function changeOf({ contract, ownCap, state, stateReason }: AccountTerms): AccountChange | null {
  const change: AccountChange = {
    ...(contract !== undefined && { contract }),
    ...(ownCap !== undefined && { ownCap: usd(ownCap) }),
    ...(state !== undefined && { state }),
    ...(stateReason !== undefined && { stateReason }),
  };
  return Object.keys(change).length === 0 ? null : change;
}

async function rowOf(accounts: Accounts, id: string): Promise<AccountRow> {
  const row = await accounts.find(id);
  if (row === null) throw new Error(`The account ${id} is gone`);
  return row;
}

function usdOrNull(dollars: string | undefined): NanoUsd | null {
  return dollars === undefined ? null : usd(dollars);
}

/** The moment this many days ago. */
export function daysAgo(days: number): Date {
  return new Date(Date.now() - days * DAY_MS);
}
