// The inbox of payment providers' events. An event only says that an object has changed: it is
// stored once, and processed by reading that object.

import { and, asc, eq, sql } from "drizzle-orm";
import type { Database } from "../servers/database.ts";
import type { Transaction } from "../servers/transaction.ts";
import { providerCursors, providerEvents } from "../tables/payment-schema.ts";

type EventRow = Readonly<typeof providerEvents.$inferSelect>;

/** An event, which names the object that changed: its kind, and its id at the provider. */
export type ProviderEvent = Pick<
  EventRow,
  "provider" | "id" | "type" | "object" | "objectId" | "occurredAt"
>;

export type EventRef = Pick<ProviderEvent, "provider" | "id">;

const FAILURE_LENGTH_MAX = 500;

export class ProviderEvents {
  constructor(readonly database: Database) {}

  /** Stores an event; false if it was stored before. */
  async receive(event: ProviderEvent): Promise<boolean> {
    const stored = await this.database.db
      .insert(providerEvents)
      .values(event)
      .onConflictDoNothing()
      .returning({ id: providerEvents.id });
    return stored.length > 0;
  }

  /** An event that is not processed yet; null if it is processed, or if none has this id. */
  async findReceived({ provider, id }: EventRef): Promise<ProviderEvent | null> {
    const [row] = await this.database.db
      .select()
      .from(providerEvents)
      .where(and(isEvent({ provider, id }), eq(providerEvents.status, "received")));
    return row ?? null;
  }

  /**
   * Events that were received before this time and are not processed yet, oldest first. One that
   * failed waits longer after each attempt.
   */
  async unprocessed(provider: string, before: Date, max: number): Promise<EventRef[]> {
    const wait = sql`make_interval(secs => 10 * ${providerEvents.attempts} ^ 2)`;
    return await this.database.db
      .select({ provider: providerEvents.provider, id: providerEvents.id })
      .from(providerEvents)
      .where(
        and(
          eq(providerEvents.provider, provider),
          eq(providerEvents.status, "received"),
          sql`${providerEvents.receivedAt} < ${before.toISOString()}::timestamptz - ${wait}`,
        ),
      )
      .orderBy(asc(providerEvents.receivedAt))
      .limit(max);
  }

  /** Notes why an event could not be processed; it stays received. */
  async failed(event: EventRef, failure: string): Promise<void> {
    await this.database.db
      .update(providerEvents)
      .set({
        attempts: sql`${providerEvents.attempts} + 1`,
        failure: failure.slice(0, FAILURE_LENGTH_MAX),
      })
      .where(isEvent(event));
  }

  /** Marks an event as processed that changed nothing here. */
  async ignored(event: EventRef, result: string): Promise<void> {
    await this.database.db.transaction((tx) => processedIn(tx, event, result));
  }

  /** The time up to which the provider's own list was read; null if the list was never read. */
  async listedUntil(provider: string): Promise<Date | null> {
    const [row] = await this.database.db
      .select()
      .from(providerCursors)
      .where(eq(providerCursors.provider, provider));
    return row?.listedUntil ?? null;
  }

  async setListedUntil(provider: string, listedUntil: Date): Promise<void> {
    await this.database.db
      .insert(providerCursors)
      .values({ provider, listedUntil })
      .onConflictDoUpdate({ target: providerCursors.provider, set: { listedUntil } });
  }

  /**
   * The number of events of a provider that wait, and the time since which the oldest waits. Events
   * of another provider wait for an installation that has it.
   */
  async backlog(
    provider: string,
  ): Promise<{ readonly waiting: number; readonly oldest: Date | null }> {
    const [row] = await this.database.db
      .select({
        waiting: sql<number>`count(*)::int`,
        oldest: sql<string | null>`min(${providerEvents.receivedAt})`,
      })
      .from(providerEvents)
      .where(and(eq(providerEvents.provider, provider), eq(providerEvents.status, "received")));
    const oldest = row?.oldest ?? null;
    return { waiting: row?.waiting ?? 0, oldest: oldest === null ? null : new Date(oldest) };
  }
}

/** Marks an event as processed, in the transaction that books its changes. */
export async function processedIn(tx: Transaction, event: EventRef, result: string): Promise<void> {
  await tx
    .update(providerEvents)
    .set({ status: "processed", result, processedAt: sql`now()`, failure: null })
    .where(isEvent(event));
}

function isEvent({ provider, id }: EventRef) {
  return and(eq(providerEvents.provider, provider), eq(providerEvents.id, id));
}
