// The trail of the operators: author, action, time and reason. Each line has an id that the page
// gave, so that a request which is sent twice is done once.

import { and, desc, eq, lt, ne } from "drizzle-orm";
import type { StoredRow } from "../../core/records.ts";
import { type Actor, recordActivity } from "../accounts/activity.ts";
import { lockAccount } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import type { Transaction } from "../servers/transaction.ts";
import { accounts } from "../tables/account-schema.ts";
import { operatorActions } from "../tables/operator-schema.ts";

type ActionRow = Readonly<typeof operatorActions.$inferSelect>;

/** An order of an operator. The same id must mean the same. */
export type OperatorAction = Pick<
  ActionRow,
  "id" | "action" | "account" | "subject" | "about" | "reason"
>;

/** A person who acts as operator. */
export type OperatorActor = Actor & { readonly personId: string };

export interface TrailEntry extends Omit<ActionRow, "person"> {
  /** The id of the account. */
  readonly accountId: string | null;
}

/** The operator who acts, and the time. */
export interface Doing {
  readonly actor: OperatorActor;
  readonly now: Date;
  /** Throws if the actor has lost the right to the change, which undoes it. */
  readonly confirm: (tx: Transaction) => Promise<void>;
}

type Done = Doing & Pick<TrailEntry, "outcome">;

const DETAIL_LENGTH_MAX = 500;

/** The action with this id, or null. */
export async function findAction({ db }: Database, id: string): Promise<TrailEntry | null> {
  const [row] = await select(db).where(eq(operatorActions.id, id));
  return row === undefined ? null : entryOf(row);
}

/**
 * Writes the line of an action, and the one in the account's activity, in the transaction of the
 * change. False if the id is taken: then the change must not be made again.
 */
export async function recordActionIn(
  tx: Transaction,
  action: OperatorAction,
  { actor, now, confirm, outcome }: Done,
): Promise<boolean> {
  const { name, personId: person, country } = actor;
  const added = await tx
    .insert(operatorActions)
    .values({ ...action, at: now, actor: name, person, country, outcome })
    .onConflictDoNothing({ target: operatorActions.id })
    .returning({ number: operatorActions.number });
  await confirm(tx);
  if (added.length === 0) return false;
  if (action.account !== null && outcome !== "unchanged") {
    const about = `${action.about} (${action.reason})`;
    const line = { actor, action: `operator_${action.action}`, about, at: now };
    await recordActivity(tx, action.account, line);
  }
  return true;
}

/** `recordActionIn` as a transaction of its own. */
export async function recordAction(
  { db }: Database,
  action: OperatorAction,
  done: Done,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    // The account first, as everywhere: a change of it under the same id waits for this line, which
    // waits for the account that the change has locked.
    if (action.account !== null) await lockAccount(tx, action.account);
    return await recordActionIn(tx, action, done);
  });
}

/**
 * Stores the outcome of an action that was begun. The outcome "done" stays: a repeat at the same
 * time may fail, and a reader of that outcome would order the action once more.
 */
export async function endAction(
  { db }: Database,
  id: string,
  { outcome, detail }: Pick<TrailEntry, "outcome" | "detail">,
): Promise<void> {
  await db
    .update(operatorActions)
    .set({ outcome, detail: detail?.slice(0, DETAIL_LENGTH_MAX) ?? null })
    .where(and(eq(operatorActions.id, id), ne(operatorActions.outcome, "done")));
}

export interface TrailQuestion {
  /** Only actions about this account; null for all. */
  readonly account: number | null;
  readonly before: number | null;
  readonly count: number;
}

/** The newest lines, or those before a number. */
export async function listActions(
  { db }: Database,
  { account, before, count }: TrailQuestion,
): Promise<readonly StoredRow[]> {
  const rows = await select(db)
    .where(
      and(
        account === null ? undefined : eq(operatorActions.account, account),
        before === null ? undefined : lt(operatorActions.number, before),
      ),
    )
    .orderBy(desc(operatorActions.number))
    .limit(count);
  return rows.map(({ row, accountId }) => ({ ...row, account: accountId }));
}

function select(db: Database["db"]) {
  return db
    .select({ row: operatorActions, accountId: accounts.id })
    .from(operatorActions)
    .leftJoin(accounts, eq(accounts.number, operatorActions.account))
    .$dynamic();
}

type ActionWithAccount = Awaited<ReturnType<typeof select>>[number];

function entryOf({ row, accountId }: ActionWithAccount): TrailEntry {
  const { person: _, ...entry } = row;
  return { ...entry, accountId };
}
