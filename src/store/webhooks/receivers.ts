// The receivers of webhooks of an account. Every change locks the account first, as everywhere: an
// event that is stored meanwhile waits, and then finds the receivers as they are.

import { and, asc, eq } from "drizzle-orm";
import { RECEIVERS_MAX } from "../../core/webhooks/webhook-rules.ts";
import { type AlsoInTransaction, refuseClosed } from "../accounts/accounts.ts";
import { lockAccount } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import type { Queries, Transaction } from "../servers/transaction.ts";
import { webhookDeliveries, webhookReceivers } from "../tables/webhook-schema.ts";
import { type DisabledReason, endWaiting } from "./receiver-ends.ts";
import { begunAgain, waitsForAttempt } from "./replays.ts";

export type Receiver = Readonly<typeof webhookReceivers.$inferSelect>;

/** The account has as many receivers as it can have. */
export class TooManyReceivers extends Error {
  override readonly name = "TooManyReceivers";
}

export interface NewReceiver {
  readonly id: string;
  readonly url: string;
  readonly description: string;
  readonly events: readonly string[];
  /** Sealed. */
  readonly secret: Uint8Array;
  /** The id of the request that makes it; null without one. */
  readonly rotation: string | null;
}

/** The change of a receiver by its account; fields that are left out stay. */
export interface ReceiverChange {
  readonly url?: string;
  readonly description?: string;
  readonly events?: readonly string[];
  readonly secret?: Uint8Array;
  readonly oldSecret?: Uint8Array | null;
  readonly oldSecretUntil?: Date | null;
  readonly rotation?: string;
  readonly disabled?: DisabledReason | null;
}

/** The receivers of an account, oldest first. */
export async function listReceivers(queries: Queries, account: number): Promise<Receiver[]> {
  return await queries
    .select()
    .from(webhookReceivers)
    .where(eq(webhookReceivers.account, account))
    .orderBy(asc(webhookReceivers.number));
}

/** A receiver of this account; null if the account has none with this id. */
export async function findReceiver(
  queries: Queries,
  account: number,
  id: string,
): Promise<Receiver | null> {
  const [row] = await queries
    .select()
    .from(webhookReceivers)
    .where(and(eq(webhookReceivers.account, account), eq(webhookReceivers.id, id)));
  return row ?? null;
}

interface NewReceiverOrder {
  readonly receiver: NewReceiver;
  readonly now: Date;
  /** True for a receiver that the same order has added before. */
  readonly isMade: (known: Receiver) => boolean;
  readonly also: AlsoInTransaction;
}

/**
 * Adds a receiver; returns the one that the same order added before, if there is one.
 * @throws AccountClosed, TooManyReceivers
 */
export async function createReceiver(
  { db }: Database,
  account: number,
  { receiver, now, isMade, also }: NewReceiverOrder,
): Promise<Receiver> {
  return await db.transaction(async (tx) => {
    refuseClosed(await lockAccount(tx, account));
    const known = await listReceivers(tx, account);
    const made = known.find(isMade);
    if (made !== undefined) return made;
    if (known.length >= RECEIVERS_MAX) {
      throw new TooManyReceivers(`An account can have at most ${RECEIVERS_MAX} webhooks`);
    }
    const values = { ...receiver, events: [...receiver.events], account, createdAt: now };
    const [row] = await tx.insert(webhookReceivers).values(values).returning();
    if (row === undefined) throw new Error("The receiver was not stored");
    await also(tx, account);
    return row;
  });
}

async function beginWaiting(tx: Transaction, receiver: number, now: Date): Promise<void> {
  await tx
    .update(webhookDeliveries)
    .set(begunAgain(now))
    .where(and(eq(webhookDeliveries.receiver, receiver), waitsForAttempt(now)));
}

interface ChangeOrder {
  readonly id: string;
  readonly now: Date;
  /** The change that follows from the present row; null if it was made before. */
  readonly decide: (receiver: Receiver) => ReceiverChange | null;
  readonly also: AlsoInTransaction;
}

/** Changes a receiver; null if the account has none with this id. */
export async function changeReceiver(
  { db }: Database,
  account: number,
  { id, now, decide, also }: ChangeOrder,
): Promise<Receiver | null> {
  return await db.transaction(async (tx) => {
    await lockAccount(tx, account);
    const receiver = await findReceiver(tx, account, id);
    if (receiver === null) return null;
    const change = decide(receiver);
    if (change === null) return receiver;
    const { disabled } = change;
    const isSwitched = disabled !== undefined && disabled !== receiver.disabled;
    const isMoved = change.url !== undefined && change.url !== receiver.url;
    const [row] = await tx
      .update(webhookReceivers)
      .set({
        ...change,
        events: [...(change.events ?? receiver.events)],
        ...(isSwitched && { disabledAt: disabled === null ? null : now }),
        ...((isSwitched || isMoved) && { failingSince: null }),
      })
      .where(eq(webhookReceivers.number, receiver.number))
      .returning();
    if (isSwitched && disabled !== null) await endWaiting(tx, receiver.number, now);
    // The new address may take the events that the earlier one did not take.
    if (isMoved) await beginWaiting(tx, receiver.number, now);
    await also(tx, account);
    return row ?? null;
  });
}

/**
 * Deletes a receiver with its deliveries; false if the account has none with this id. `check`
 * throws if it must stay.
 */
export async function deleteReceiver(
  { db }: Database,
  account: number,
  {
    id,
    check,
    also,
  }: Pick<ChangeOrder, "id" | "also"> & {
    readonly check: (receiver: Receiver) => void;
  },
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    await lockAccount(tx, account);
    const receiver = await findReceiver(tx, account, id);
    if (receiver === null) return false;
    check(receiver);
    await tx.delete(webhookReceivers).where(eq(webhookReceivers.number, receiver.number));
    await also(tx, account);
    return true;
  });
}
