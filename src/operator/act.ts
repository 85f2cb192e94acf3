// Makes the changes of operators: each once for the id that the page gives, with a line that names
// the operator, the change and the reason.

import { actorOf } from "../console/noted.ts";
import { ConsoleError } from "../core/console-errors.ts";
import { AdministrationError, toApiError } from "../core/errors.ts";
import { flag, jsonOf, nested, nullable, type WireOf } from "../core/records.ts";
import { TrailLine } from "../readings/trail.ts";
import {
  type Doing,
  endAction,
  findAction,
  type OperatorAction,
  recordAction,
  recordActionIn,
  type TrailEntry,
} from "../store/operators/operator-actions.ts";
import type { Database } from "../store/servers/database.ts";
import type { Transaction } from "../store/servers/transaction.ts";
import type { Context } from "./deps.ts";

/** An operator's change, and the request that asks for it. */
export interface Deed extends Pick<OperatorAction, "action" | "about"> {
  /** The request's own id, and the reason of the change. */
  readonly ask: Pick<OperatorAction, "id" | "reason">;
  /** The number of the account; missing or null if the change concerns no account. */
  readonly account?: number | null;
  readonly subject?: string | null;
}

/** The answer to a change. */
export const Action = {
  done: nested(TrailLine),
  repeated: flag({ about: "True if it was done before under this id", sample: false }),
  applied: nullable(
    flag({ about: "False where Redis did not answer: it takes effect once it does", sample: true }),
  ),
};
export type ActionReply = WireOf<typeof Action>;

/** Another request took the id meanwhile: the change of this request is rolled back. */
class TakenMeanwhile extends Error {}

/**
 * Makes a change whose transaction runs `also`, once. The line is written in that transaction; if
 * there was nothing to change, the line says so.
 * @throws AdministrationError
 */
export async function actOnce(
  context: Context,
  deed: Deed,
  change: (also: (tx: Transaction) => Promise<void>) => Promise<{ readonly applied: boolean }>,
): Promise<ActionReply> {
  const { database, action, doing } = prepared(context, deed);
  const before = await findAction(database, action.id);
  if (before !== null) return repeated(before, action);
  let applied: boolean;
  let isRecorded = false;
  try {
    ({ applied } = await change(async (tx) => {
      if (!(await recordActionIn(tx, action, { ...doing, outcome: "done" })))
        throw new TakenMeanwhile();
      isRecorded = true;
    }));
  } catch (error) {
    // A change may also fail because the other request made it, and took its name, for example.
    const meanwhile = await findAction(database, action.id);
    if (meanwhile === null) throw error;
    return repeated(meanwhile, action);
  }
  // If nothing had to be changed, no transaction wrote the line.
  isRecorded ||= await recordAction(database, action, { ...doing, outcome: "unchanged" });
  const entry = await found(database, action.id);
  if (!isRecorded) return repeated(entry, action);
  return { done: trailLine(entry), repeated: false, applied };
}

/**
 * Makes a change outside of a transaction, such as a refund at a payment provider. The line is
 * written before the change, and completed with its outcome. `work` must do no harm if it runs
 * again: after a crash or a failure it runs again under the same id.
 * @throws AdministrationError
 */
export async function actOutside(
  context: Context,
  deed: Deed,
  work: () => Promise<string | null>,
): Promise<ActionReply> {
  const { database, action, doing } = prepared(context, deed);
  if (!(await recordAction(database, action, { ...doing, outcome: "begun" }))) {
    const before = await found(database, action.id);
    if (before.outcome === "done" || !isSame(before, action)) return repeated(before, action);
  }
  let detail: string | null;
  try {
    detail = await work();
  } catch (error) {
    const { message } = error instanceof AdministrationError ? error : toApiError(error);
    await endAction(database, action.id, { outcome: "failed", detail: message });
    throw error;
  }
  await endAction(database, action.id, { outcome: "done", detail });
  const entry = await found(database, action.id);
  return { done: trailLine(entry), repeated: false, applied: true };
}

function prepared(context: Context, { ask, account = null, subject = null, ...deed }: Deed) {
  const { deps, person } = context;
  const { database } = deps.administration.accounts.deps;
  const { id, reason } = ask;
  const action: OperatorAction = { ...deed, account, subject, id, reason: reason.trim() };
  const actor = { ...actorOf(context), personId: person.personId };
  const confirm = (tx: Transaction) => requireOperator(context, tx);
  const doing: Doing = { actor, now: new Date(deps.clock.now()), confirm };
  return { database, action, doing };
}

/** Requires that the person is still an operator, like the check of people's roles (D-522). */
async function requireOperator({ deps, person }: Context, tx: Transaction): Promise<void> {
  if (await deps.people.isOperatorIn(tx, person.sessionId)) return;
  throw new ConsoleError("role_required", "You have just been removed as operator, or signed out");
}

function repeated(entry: TrailEntry, action: OperatorAction): ActionReply {
  if (!isSame(entry, action)) throw reused(entry);
  return { done: trailLine(entry), repeated: true, applied: null };
}

function isSame(entry: TrailEntry, { action, account, subject, about }: OperatorAction): boolean {
  return (
    entry.action === action &&
    entry.account === account &&
    entry.subject === subject &&
    entry.about === about
  );
}

function reused({ id, action, about }: TrailEntry): AdministrationError {
  return new AdministrationError(
    "reference_reused",
    `The id '${id}' belongs to another action: ${action}, ${about}`,
  );
}

async function found(database: Database, id: string): Promise<TrailEntry> {
  const entry = await findAction(database, id);
  if (entry === null) throw new Error(`The action ${id} is gone`);
  return entry;
}

function trailLine(entry: TrailEntry): WireOf<typeof TrailLine> {
  return jsonOf(TrailLine, { ...entry, account: entry.accountId });
}
