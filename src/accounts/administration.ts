// What an operator does to an account: the change is committed in Postgres, then given to Redis. A
// process that dies in between, or a Redis that is away, leaves work for workers/completer.ts.

import type { AccountState } from "../core/access.ts";
import type { Surface } from "../core/keys.ts";
import { type PlanName, SERVICES } from "../core/limits.ts";
import type { NanoUsd } from "../core/money.ts";
import {
  type AccountChange,
  AccountClosed,
  type AccountPlace,
  type AccountRow,
  type Accounts,
  type NewAccount,
  type NewKey,
} from "../store/accounts.ts";
import { BalanceTooLarge } from "../store/balance-limit.ts";

/** The account's actor, as far as an operator needs it. */
export interface Wallet {
  configure(): Promise<void>;
  applyCredits(): Promise<void>;
}

export interface AdministrationDeps {
  readonly accounts: Accounts;
  readonly actors: { of(accountId: string, bucket: number): Wallet };
  readonly now: () => number;
  /** Told when Postgres has the change and Redis does not yet: it will get it. */
  readonly onDelayed: (accountId: string, error: unknown) => void;
}

/** A change that this account does not allow; the message is for the operator. */
export class Refused extends Error {
  override readonly name = "Refused";

  constructor(
    readonly code:
      | "not_found"
      | "closed"
      | "wrong_state"
      | "wrong_scope"
      | "wrong_surface"
      | "too_large"
      | "not_taken",
    message: string,
  ) {
    super(message);
  }
}

export interface Done {
  readonly id: string;
  /** False when Redis could not be told yet. */
  readonly applied: boolean;
}

/** The state reason of an account that an operator suspended or closed. */
export const OPERATOR = "operator";

export type AccountAction =
  | { readonly kind: "suspend" | "resume" | "close" }
  | { readonly kind: "contract"; readonly contract: "enterprise" | null }
  | { readonly kind: "plan"; readonly plan: PlanName }
  | { readonly kind: "cap"; readonly cap: NanoUsd | null };

/** A new account with its wallet. */
export async function createAccount(deps: AdministrationDeps, account: NewAccount): Promise<Done> {
  const place = await deps.accounts.create(account, new Date(deps.now()));
  return { id: place.id, applied: await apply(deps, place) };
}

/** Does to an account what the action says; doing it again changes nothing. @throws Refused */
export async function changeAccount(
  deps: AdministrationDeps,
  accountId: string,
  action: AccountAction,
): Promise<Done & { readonly account: AccountRow }> {
  const account = await deps.accounts.decide(accountId, new Date(deps.now()), (row) =>
    decide(row, action),
  );
  if (account === null) throw noAccount(accountId);
  return { id: account.id, applied: await apply(deps, account), account };
}

/** A new key; `key` is shown here and never again. @throws Refused */
export async function createKey(
  deps: AdministrationDeps,
  accountId: string,
  terms: NewKey,
): Promise<Done & { readonly key: string }> {
  const account = await findAccount(deps, accountId);
  const allowed = scopesOf(account.surface);
  const wrong = terms.scopes.find((scope) => !allowed.includes(scope));
  if (wrong !== undefined) {
    throw new Refused(
      "wrong_scope",
      `A key of the ${account.surface} surface cannot have the scope '${wrong}': only ` +
        allowed.join(", "),
    );
  }
  const { id, secret } = await explained(account, deps.accounts.createKey(account, terms));
  return { id, key: secret, applied: await apply(deps, account) };
}

/** Revokes a key; the next call with it is refused. @throws Refused */
export async function revokeKey(deps: AdministrationDeps, keyId: string): Promise<Done> {
  const place = await deps.accounts.revokeKey(keyId, new Date(deps.now()));
  if (place === null) throw new Refused("not_found", `There is no key ${keyId}`);
  return { id: keyId, applied: await apply(deps, place) };
}

/** Books a payment that came by other means and credits it. @throws Refused */
export async function recordPayment(
  deps: AdministrationDeps,
  accountId: string,
  payment: { readonly amount: NanoUsd; readonly paidAt: Date },
): Promise<Done> {
  const account = await findAccount(deps, accountId);
  const { id } = await explained(account, deps.accounts.recordPayment(account, payment));
  return { id, applied: await apply(deps, account) };
}

/** @throws Refused when there is none of this id */
export async function findAccount(
  deps: Pick<AdministrationDeps, "accounts">,
  accountId: string,
): Promise<AccountRow> {
  const account = await deps.accounts.find(accountId);
  if (account === null) throw noAccount(accountId);
  return account;
}

/** The Application surface knows one permission, the Models API (SPEC 2.1). */
function scopesOf(surface: Surface): readonly string[] {
  return surface === "gateway" ? SERVICES : ["models"];
}

/** What decides the limits of one surface alone: a contract the tier, a plan itself. */
const SURFACE_OF: Partial<Record<AccountAction["kind"], Surface>> = {
  contract: "gateway",
  plan: "application",
};

function decide(account: AccountRow, action: AccountAction): AccountChange | null {
  if (action.kind === "close") {
    return account.state === "closed" ? null : { state: "closed", stateReason: OPERATOR };
  }
  if (account.state === "closed") throw closed(account);
  const surface = SURFACE_OF[action.kind];
  if (surface !== undefined && account.surface !== surface) {
    throw new Refused(
      "wrong_surface",
      `The account ${account.id} is of the ${account.surface} surface and has no ${action.kind}`,
    );
  }
  switch (action.kind) {
    case "plan":
      return account.plan === action.plan ? null : { plan: action.plan };
    case "contract":
      return account.contract === action.contract ? null : { contract: action.contract };
    case "cap":
      return account.ownCap === action.cap ? null : { ownCap: action.cap };
    case "suspend":
      return moved(account, "suspended");
    case "resume":
      return moved(account, "active");
  }
}

/** An operator resumes what an operator suspended; a payment dispute ends by its own rules. */
function moved(account: AccountRow, state: AccountState): AccountChange | null {
  const { state: from, stateReason: reason } = account;
  if (from === "suspended" && reason !== OPERATOR) {
    throw new Refused(
      "wrong_state",
      `The account ${account.id} is suspended for another reason (${reason ?? "unknown"}): ` +
        "an operator can neither suspend nor resume it",
    );
  }
  if (from === state) return null;
  return { state, stateReason: state === "active" ? null : OPERATOR };
}

/** Gives Redis what Postgres has. The change stands either way, so a failure is only reported. */
async function apply(deps: AdministrationDeps, { id, bucket }: AccountPlace): Promise<boolean> {
  const wallet = deps.actors.of(id, bucket);
  try {
    await wallet.configure();
    await wallet.applyCredits();
    return true;
  } catch (error) {
    deps.onDelayed(id, error);
    return false;
  }
}

async function explained<T>(account: AccountRow, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (error instanceof AccountClosed) throw closed(account);
    if (error instanceof BalanceTooLarge) throw new Refused("too_large", error.message);
    throw error;
  }
}

function closed({ id }: AccountPlace): Refused {
  return new Refused("closed", `The account ${id} is closed, and a closed account stays closed`);
}

function noAccount(id: string): Refused {
  return new Refused("not_found", `There is no account ${id}`);
}
