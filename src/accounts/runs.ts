// Reads and changes the runs of an account, for its keys, its people and operators.

import type { BudgetUse } from "../../actors/account.ts";
import { applyChangesNow, type ChangedAccount } from "../../actors/changed-account.ts";
import { type Budget, type BudgetOwner, leftOf } from "../core/access/budgets.ts";
import { type RunState, runBudget, runStateAt } from "../core/access/runs.ts";
import { AdministrationError } from "../core/errors.ts";
import { type NanoUsd, ZERO } from "../core/money/money.ts";
import { type NewWebhookEvent, webhookEvent } from "../core/webhooks/webhook-events.ts";
import type { AccountRef, AlsoInTransaction } from "../store/accounts/accounts.ts";
import { AccountClosed } from "../store/accounts/accounts.ts";
import {
  changeRun,
  findRun,
  type RunChange,
  type RunRow,
  TooManyRuns,
} from "../store/accounts/runs.ts";
import type { Database } from "../store/servers/database.ts";
import type { KeptRunSums } from "../store/usage/kept-run-sums.ts";
import type { RunSums } from "../store/usage/run-sums.ts";
import { addWebhookEvents } from "../store/webhooks/webhook-outbox.ts";

/** The part of an account's actor that runs need. */
export interface RunAccount extends ChangedAccount {
  /** Redis's time, by which calls are admitted: a run begins, is changed and ends by one clock. */
  now(): number;
  budgetUse<Of extends BudgetOwner>(
    budgets: readonly Budget<Of>[],
  ): Promise<readonly BudgetUse<Of>[]>;
}

export interface RunDeps {
  readonly database: Database;
  readonly actors: { of(accountId: string, bucket: number): RunAccount };
  readonly sums: Pick<KeptRunSums, "of">;
  /** Called when Postgres has a change and Redis does not yet; the completer will pass it on. */
  readonly onDelayed: (accountId: string, error: unknown) => void;
}

/** A run, and the use that is made of it now. */
export interface RunUse extends RunRow {
  readonly state: RunState;
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  readonly left: NanoUsd;
}

/** The current use of runs: from Redis, or from the log for ended runs that Redis has forgotten. */
export async function runUses(
  { actors }: Pick<RunDeps, "actors">,
  { id, bucket }: Pick<AccountRef, "id" | "bucket">,
  runs: readonly RunRow[],
): Promise<readonly RunUse[]> {
  const live = runs.filter(({ forgottenAt }) => forgottenAt === null);
  const actor = actors.of(id, bucket);
  const uses = await actor.budgetUse(live.map(runBudget));
  const useOf = new Map(uses.map((use) => [use.number, use]));
  const nowMs = actor.now();
  return runs.map((run) => {
    const { spent, held } = useOf.get(run.number) ?? { spent: run.loggedSpent, held: ZERO };
    const left = leftOf(run, { spent, held });
    return { ...run, state: runStateAt(run, nowMs), spent, held, left };
  });
}

/** A run of an account with the sums of its calls; null if the account has none of this id. */
export async function readRunDetails(
  deps: Pick<RunDeps, "database" | "actors" | "sums">,
  account: Pick<AccountRef, "id" | "bucket"> & { readonly number: number },
  id: string,
): Promise<{ readonly use: RunUse; readonly sums: RunSums } | null> {
  const run = await findRun(deps.database.db, account.number, id);
  const [use] = run === null ? [] : await runUses(deps, account, [run]);
  if (use === undefined) return null;
  const { createdAt } = use;
  return { use, sums: await deps.sums.of({ account: account.number, id, createdAt }) };
}

/** A change of a run, and the rows that are written with it. */
export interface ChangedRun {
  readonly run: string;
  readonly change: RunChange;
  readonly also?: AlsoInTransaction | undefined;
}

/**
 * Pauses or resumes a run, or gives it another amount or more time. The next call counts by it.
 * @throws AdministrationError
 */
export async function changeOwnRun(
  deps: Omit<RunDeps, "sums">,
  account: AccountRef & { readonly number: number },
  { run, change, also }: ChangedRun,
): Promise<{ readonly run: RunRow; readonly applied: boolean }> {
  const { id, bucket } = account;
  const actor = deps.actors.of(id, bucket);
  const changed = await explained(
    account,
    changeRun(deps.database, account.number, {
      id: run,
      change,
      nowMs: actor.now(),
      also: async (tx, { before, after }) => {
        await addWebhookEvents(tx, account.number, eventsOf(before, after));
        await also?.(tx, account.number);
      },
    }),
  );
  if (changed === null) throw new AdministrationError("not_found", "There is no such run");
  const onDelayed = (error: unknown) => deps.onDelayed(id, error);
  const applied = await applyChangesNow(() => actor, onDelayed);
  return { run: changed, applied };
}

function eventsOf(before: RunRow, after: RunRow): NewWebhookEvent[] {
  const { id: run, amount: max, endsAt } = after;
  const events: NewWebhookEvent[] = [];
  if (before.isPaused !== after.isPaused) {
    const type = after.isPaused ? "run.paused" : "run.resumed";
    events.push(webhookEvent(type, null, { run, max, endsAt }));
  }
  if (before.amount !== after.amount || before.endsAtMs !== after.endsAtMs) {
    events.push(webhookEvent("run.changed", null, { run, max, endsAt }));
  }
  return events;
}

async function explained<T>({ id }: Pick<AccountRef, "id">, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (error instanceof TooManyRuns) throw new AdministrationError("wrong_state", error.message);
    if (!(error instanceof AccountClosed)) throw error;
    throw new AdministrationError("closed", `The account ${id} is closed`);
  }
}
