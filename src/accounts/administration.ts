// Changes accounts for an operator. Each change is committed in Postgres, then given to Redis. If
// the process dies in between, or Redis is away, workers/completer.ts finishes the change.

import { applyChangesNow, type ChangedAccount } from "../../actors/changed-account.ts";
import { type AccountEvent, afterEvent } from "../core/access/account-states.ts";
import type { PlanName } from "../core/access/limits.ts";
import { type Surface, scopesOfSurface } from "../core/access/services.ts";
import { AdministrationError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { NanoUsd } from "../core/money/money.ts";
import { type ChangedKey, changeKey, findKey } from "../store/accounts/account-keys.ts";
import {
  type AccountChange,
  AccountClosed,
  type AccountRef,
  type AccountRow,
  type Accounts,
  type AlsoInTransaction,
  type ChangeFacts,
  grantFreeCredit,
  type KeyRow,
  type NewAccount,
  type NewKey,
} from "../store/accounts/accounts.ts";
import {
  type BudgetTerms,
  NoSuchKey,
  setBudget,
  TooManyBudgets,
} from "../store/accounts/budgets.ts";
import { TooManyKeys } from "../store/accounts/key-limits.ts";
import { BalanceTooLarge } from "../store/ledger/balance-limit.ts";
import { OperationSetAside, ReferenceReused } from "../store/ledger/operations.ts";
import type { Payments } from "../store/payments/payments.ts";

export interface AdministrationDeps {
  readonly accounts: Accounts;
  readonly payments: Payments;
  readonly actors: { of(accountId: string, bucket: number): ChangedAccount };
  readonly now: () => number;
  /** Called when Postgres has the change and Redis does not yet; the completer will pass it on. */
  readonly onDelayed: (accountId: string, error: unknown) => void;
  /**
   * Runs in the transaction of each change: for example, writes the line with the author of the
   * change.
   */
  readonly also?: AlsoInTransaction | undefined;
}

/** Logs that Redis does not have a change yet. */
export function delayedChange(log: Pick<Log, "warn">): AdministrationDeps["onDelayed"] {
  return (accountId, error) =>
    log.warn({ accountId, err: error }, "A change waits for Redis; the completer applies it");
}

export interface Done {
  readonly id: string;
  /** False if Redis does not have the change yet. */
  readonly applied: boolean;
}

export type AccountAction =
  | { readonly kind: "suspend" | "resume" | "close" }
  | { readonly kind: "contract"; readonly contract: "enterprise" | null }
  | { readonly kind: "plan"; readonly plan: PlanName }
  | { readonly kind: "domain"; readonly domain: string | null }
  | { readonly kind: "cap"; readonly cap: NanoUsd | null };

/** A new account with its wallet. */
export async function createAccount(deps: AdministrationDeps, account: NewAccount): Promise<Done> {
  const accountRef = await deps.accounts.create(account, new Date(deps.now()), deps.also);
  return { id: accountRef.id, applied: await apply(deps, accountRef) };
}

/**
 * Makes the change of `action` to an account; repeating it changes nothing.
 * @throws AdministrationError
 */
export async function changeAccount(
  deps: AdministrationDeps,
  accountId: string,
  action: AccountAction,
): Promise<Done & { readonly account: AccountRow }> {
  const { also } = deps;
  const account = await deps.accounts.decide(
    accountId,
    (row, facts) => decide(row, action, facts),
    { now: new Date(deps.now()), also },
  );
  if (account === null) throw noAccount(accountId);
  return { id: account.id, applied: await apply(deps, account), account };
}

/**
 * A new key; `key` is shown here and never again.
 * @throws AdministrationError
 */
export async function createKey(
  deps: AdministrationDeps,
  accountId: string,
  terms: NewKey,
): Promise<Done & { readonly key: string }> {
  const account = await findAccount(deps, accountId);
  const allowed = scopesOfSurface(account.surface);
  const wrong = terms.scopes.find((scope) => !allowed.includes(scope));
  if (wrong !== undefined) {
    throw new AdministrationError(
      "wrong_scope",
      `A key of the ${account.surface} surface cannot have the scope '${wrong}': only ` +
        allowed.join(", "),
    );
  }
  const { id, secret } = await explained(
    account,
    deps.accounts.createKey(account, terms, deps.also),
  );
  return { id, key: secret, applied: await apply(deps, account) };
}

/**
 * Gives a Gateway account the free credit that it did not get by signing up. An account gets free
 * credit by a grant once.
 * @throws AdministrationError
 */
export async function grantFree(deps: AdministrationDeps, accountId: string): Promise<Done> {
  const account = await findAccount(deps, accountId);
  const { database } = deps.accounts.deps;
  const { also } = deps;
  const granting = grantFreeCredit(database, account, { now: new Date(deps.now()), also });
  const result = await explained(account, granting);
  if (result === "granted") return { id: account.id, applied: await apply(deps, account) };
  if (result === "closed") throw closed(account);
  throw new AdministrationError(
    result === "had_some" ? "wrong_state" : "wrong_surface",
    result === "had_some"
      ? `The account ${accountId} has had its free credit`
      : `The account ${accountId} is of the application surface: its plan has an allowance`,
  );
}

/** Revokes a key; the next call with it is refused. @throws AdministrationError */
export async function revokeKey(deps: AdministrationDeps, keyId: string): Promise<Done> {
  const accountRef = await deps.accounts.revokeKey(keyId, new Date(deps.now()), deps.also);
  if (accountRef === null) throw new AdministrationError("not_found", `There is no key ${keyId}`);
  return { id: keyId, applied: await apply(deps, accountRef) };
}

/**
 * Suspends an account with a balance below zero (SPEC 3.1). That cannot happen, so an operator must
 * find the reason before resuming it.
 * @throws AdministrationError
 */
export async function suspendBelowZero(deps: AdministrationDeps, accountId: string): Promise<Done> {
  const account = await deps.accounts.decide(
    accountId,
    (row) => stateAfter(row, "balanceBelowZero"),
    { now: new Date(deps.now()) },
  );
  if (account === null) throw noAccount(accountId);
  return { id: account.id, applied: await apply(deps, account) };
}

/**
 * Finds a key of this account. A key of another account gets the same error as an unknown key.
 * @throws AdministrationError
 */
export async function findOwnKey(
  { accounts }: Pick<AdministrationDeps, "accounts">,
  account: Pick<AccountRow, "number">,
  keyId: string,
): Promise<KeyRow> {
  const key = await findKey(accounts.deps.database, account, keyId);
  if (key === null) throw new AdministrationError("not_found", `There is no key ${keyId}`);
  return key;
}

/** Changes the name or the limits of a key, unless it is revoked. @throws AdministrationError */
export async function changeOwnKey(
  deps: AdministrationDeps,
  account: Pick<AccountRow, "number" | "id" | "bucket">,
  changed: Omit<ChangedKey, "account">,
): Promise<Done> {
  const { id } = await findOwnKey(deps, account, changed.keyId);
  const key = { account: account.number, ...changed };
  if (!(await explained(account, changeKey(deps.accounts.deps.database, key, deps.also)))) {
    throw new AdministrationError("wrong_state", `The key ${id} is revoked and cannot be changed`);
  }
  return { id, applied: await apply(deps, account) };
}

/**
 * Sets a budget of an account or of one of its keys, or takes it away; the next call counts by it.
 * @throws AdministrationError
 */
export async function changeBudget(
  deps: AdministrationDeps,
  account: Pick<AccountRow, "number" | "id" | "bucket">,
  terms: BudgetTerms,
): Promise<Done> {
  const { database } = deps.accounts.deps;
  const { also } = deps;
  await explained(account, setBudget(database, account.number, { ...terms, also }));
  return { id: terms.key ?? account.id, applied: await apply(deps, account) };
}

/** @throws AdministrationError if no account has this id */
export async function findAccount(
  deps: Pick<AdministrationDeps, "accounts">,
  accountId: string,
): Promise<AccountRow> {
  const account = await deps.accounts.find(accountId);
  if (account === null) throw noAccount(accountId);
  return account;
}

/**
 * The one surface on which a change makes sense, and the feature that the other surface lacks: a
 * contract gives a Gateway tier, a plan belongs to an application account, and only Gateway
 * accounts send mail.
 */
const SURFACE_OF: Partial<Record<AccountAction["kind"], readonly [Surface, lacked: string]>> = {
  contract: ["gateway", "contract"],
  plan: ["application", "plan"],
  domain: ["gateway", "mail"],
};

function decide(
  account: AccountRow,
  action: AccountAction,
  { hasOpenDispute, hasMonthlyPlan }: ChangeFacts,
): AccountChange | null {
  if (action.kind === "close") return stateAfter(account, "close");
  if (account.state === "closed") throw closed(account);
  const [surface, lacked] = SURFACE_OF[action.kind] ?? [account.surface];
  if (account.surface !== surface) {
    throw new AdministrationError(
      "wrong_surface",
      `The account ${account.id} is of the ${account.surface} surface and has no ${lacked}`,
    );
  }
  switch (action.kind) {
    case "plan":
      // Setting the same plan is a change too if the holder pays for it: the plan is not charged
      // any more.
      return account.plan === action.plan && !hasMonthlyPlan ? null : { plan: action.plan };
    case "domain":
      return account.mailDomain === action.domain ? null : { mailDomain: action.domain };
    case "contract":
      return account.contract === action.contract ? null : { contract: action.contract };
    case "cap":
      return account.ownCap === action.cap ? null : { ownCap: action.cap };
    case "suspend":
      return stateAfter(account, "suspend");
    case "resume":
      return stateAfter(account, hasOpenDispute ? "resumeWhileDisputed" : "resume");
  }
}

/** @throws AdministrationError if the account's state refuses the event */
function stateAfter(account: AccountRow, event: AccountEvent): AccountChange | null {
  const after = afterEvent(account, event);
  if (after.kind === "changed") return after.to;
  if (after.kind === "same") return null;
  throw new AdministrationError("wrong_state", `The account ${account.id} is ${after.why}`);
}

/**
 * Gives Redis the change that Postgres has. Postgres keeps it in any case, so a failure is only
 * reported.
 */
export async function apply(
  deps: Pick<AdministrationDeps, "actors" | "onDelayed">,
  { id, bucket }: AccountRef,
): Promise<boolean> {
  const account = () => deps.actors.of(id, bucket);
  return await applyChangesNow(account, (error) => deps.onDelayed(id, error));
}

/** Returns the result of a change. Turns an error of a store into words for the operator. */
export async function explained<T>(
  account: Pick<AccountRow, "id">,
  change: Promise<T>,
): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (error instanceof AccountClosed) throw closed(account);
    if (error instanceof BalanceTooLarge) throw new AdministrationError("too_large", error.message);
    if (error instanceof NoSuchKey) throw new AdministrationError("not_found", error.message);
    if (
      error instanceof TooManyKeys ||
      error instanceof TooManyBudgets ||
      error instanceof OperationSetAside
    ) {
      throw new AdministrationError("wrong_state", error.message);
    }
    if (error instanceof ReferenceReused) {
      throw new AdministrationError("reference_reused", error.message);
    }
    throw error;
  }
}

function closed({ id }: Pick<AccountRow, "id">): AdministrationError {
  return new AdministrationError(
    "closed",
    `The account ${id} is closed, and a closed account stays closed`,
  );
}

function noAccount(id: string): AdministrationError {
  return new AdministrationError("not_found", `There is no account ${id}`);
}
