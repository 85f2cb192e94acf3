// Executes a plan by the use cases that operators have. Every step is recorded in Postgres in its
// own transaction, so an interrupted import continues where it stopped, and a repeated import
// changes nothing.

import {
  type AdministrationDeps,
  changeAccount,
  changeBudget,
  createAccount,
  createKey,
  findAccount,
} from "../../accounts/administration.ts";
import { changeEndUserBudget, endUserNamed } from "../../accounts/end-users.ts";
import { adjustBalance } from "../../accounts/payments.ts";
import type { Scope } from "../../core/access/services.ts";
import { AdministrationError } from "../../core/errors.ts";
import { type NanoUsd, ZERO } from "../../core/money/money.ts";
import type { IssuedKey } from "../../store/accounts/accounts.ts";
import { setBudgetIn } from "../../store/accounts/budgets.ts";
import {
  type ImportedRow,
  importedFrom,
  noteComplete,
  noteImported,
} from "../../store/imports/imports.ts";
import type { ImportPlan, PlannedAccount, PlannedEndUser, PlannedKey } from "./plan.ts";

export interface ImportDeps {
  readonly administration: AdministrationDeps;
  /** The name of the import. Accounts and keys that it brought before are found by this name. */
  readonly source: string;
  readonly scopes: readonly Scope[];
  /** Stores a new key where its holder will get it; the key exists only after that. */
  readonly keep: (
    account: PlannedAccount,
    key: PlannedKey,
    issued: IssuedKey & Owner,
  ) => Promise<void>;
  /** Called with a sentence for each step that failed. */
  readonly note: (sentence: string) => void;
}

export interface Owner {
  readonly accountId: string;
}

export interface ImportCounts {
  accountsCreated: number;
  accountsKnown: number;
  keysIssued: number;
  keysKnown: number;
  /** Budgets of end users that new accounts got. */
  endUserBudgets: number;
  /** The credit booked in this run: a sum over accounts, which no single balance could hold. */
  credited: bigint;
}

/** Counts the steps of a plan without doing them. */
export async function previewImport(
  { administration, source }: Pick<ImportDeps, "administration" | "source">,
  plan: ImportPlan,
): Promise<ImportCounts> {
  const known = await importedFrom(administration.accounts.deps.database, source);
  const counts = noCounts();
  for (const { origin, keys, balance } of plan.accounts) {
    const account = known.get(origin);
    counts[account === undefined ? "accountsCreated" : "accountsKnown"] += 1;
    if (account?.complete !== true) {
      counts.credited += balance;
      counts.endUserBudgets += endUsersOf(plan, origin).length;
    }
    for (const key of keys) counts[known.has(key.origin) ? "keysKnown" : "keysIssued"] += 1;
  }
  return counts;
}

/** Executes the plan, and returns the outcome. @throws ImportedMeanwhile */
export async function runImport(
  deps: ImportDeps,
  plan: ImportPlan,
): Promise<Readonly<ImportCounts>> {
  const known = await importedFrom(deps.administration.accounts.deps.database, deps.source);
  const counts = noCounts();
  for (const account of plan.accounts) {
    try {
      await importAccount(deps, account, { plan, known, counts });
    } catch (error) {
      if (!(error instanceof AdministrationError)) throw error;
      deps.note(`${account.origin} '${account.name}': ${error.message}`);
    }
  }
  return counts;
}

/** The budgets of the end users of an account; none if the budgets belong to another account. */
function endUsersOf({ endUsers }: ImportPlan, origin: string): readonly PlannedEndUser[] {
  return endUsers?.origin === origin ? endUsers.budgets : [];
}

interface Progress {
  readonly plan: ImportPlan;
  readonly known: ReadonlyMap<string, ImportedRow>;
  readonly counts: ImportCounts;
}

async function importAccount(
  deps: ImportDeps,
  account: PlannedAccount,
  { plan, known, counts }: Progress,
): Promise<void> {
  const earlier = known.get(account.origin);
  const accountId = earlier?.accountId ?? (await openAccount(deps, account));
  counts[earlier === undefined ? "accountsCreated" : "accountsKnown"] += 1;
  if (earlier?.complete !== true) {
    const endUsers = endUsersOf(plan, account.origin);
    await setEndUsers(deps, accountId, endUsers);
    counts.endUserBudgets += endUsers.length;
    counts.credited += await complete(deps, accountId, account);
  }
  for (const key of account.keys) {
    if (known.has(key.origin)) counts.keysKnown += 1;
    else {
      await issueKey(deps, { accountId, account, key });
      counts.keysIssued += 1;
    }
  }
}

async function openAccount(deps: ImportDeps, { origin, email, name }: PlannedAccount) {
  const { administration, source } = deps;
  const { id } = await createAccount(
    {
      ...administration,
      also: async (tx, account) => noteImported(tx, { source, origin, account, key: null }),
    },
    { surface: "gateway", email, name, freeCredit: false },
  );
  return id;
}

/** Sets the budgets of single end users; harmless when it is repeated. */
async function setEndUsers(
  { administration }: ImportDeps,
  accountId: string,
  endUsers: readonly PlannedEndUser[],
): Promise<void> {
  if (endUsers.length === 0) return;
  const account = await findAccount(administration, accountId);
  for (const { id, span, amount } of endUsers) {
    const endUser = endUserNamed(administration, account, id);
    const change = { endUser, key: null, span, amount, note: () => nothingMore };
    await changeEndUserBudget(administration, account, change);
  }
}

/** Writes no line of activity, because an import is not an act of a person. */
async function nothingMore(): Promise<void> {}

/** Sets the limits, credits the balance and sets the state; harmless when it is repeated. */
async function complete(
  { administration, source }: ImportDeps,
  accountId: string,
  { origin, balance, suspended, monthlyLimit: cap, budgets }: PlannedAccount,
): Promise<NanoUsd> {
  if (cap !== null) await changeAccount(administration, accountId, { kind: "cap", cap });
  const account = await findAccount(administration, accountId);
  for (const budget of budgets) {
    await changeBudget(administration, account, { key: null, ...budget });
  }
  let credited = ZERO;
  if (balance > 0n) {
    const { operation } = await adjustBalance(administration, accountId, {
      amount: balance,
      reason: `balance from ${source}`,
      reference: `import:${source}`,
    });
    credited = operation.amount;
  }
  if (suspended) await changeAccount(administration, accountId, { kind: "suspend" });
  await noteComplete(administration.accounts.deps.database, { source, origin });
  return credited;
}

interface KeyToIssue {
  readonly accountId: string;
  readonly account: PlannedAccount;
  readonly key: PlannedKey;
}

async function issueKey(deps: ImportDeps, { accountId, account, key }: KeyToIssue): Promise<void> {
  const { administration, source, scopes, keep } = deps;
  const { origin, lastFour, budgets, ...terms } = key;
  await createKey(
    {
      ...administration,
      also: async (tx, number, issued) => {
        if (issued === undefined) throw new Error("A key was made without its secret");
        await noteImported(tx, { source, origin, account: number, key: issued.id });
        // A key that could be used before its budgets were set could spend more than they allow.
        for (const budget of budgets) await setBudgetIn(tx, number, { key: issued.id, ...budget });
        // The key is stored before the commit: a key that its holder cannot get must not exist.
        await keep(account, key, { ...issued, accountId });
      },
    },
    accountId,
    { ...terms, scopes },
  );
}

function noCounts(): ImportCounts {
  return {
    accountsCreated: 0,
    accountsKnown: 0,
    keysIssued: 0,
    keysKnown: 0,
    endUserBudgets: 0,
    credited: 0n,
  };
}
