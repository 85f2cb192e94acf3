// Stores settlements that Redis did not take when their calls ended. A row stays in Postgres until
// a process has delivered it, so a settlement outlives the process of its call (D-614).

import { asc, eq, gt, sql } from "drizzle-orm";
import { fromUuid, toUuid } from "../../core/ids.ts";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import type { Database } from "../servers/database.ts";
import { accounts } from "../tables/account-schema.ts";
import { isAnyOf } from "../tables/any-of.ts";
import { waitingSettlements } from "../tables/schema.ts";

/** A settlement, as any process can deliver it. */
export interface WaitingSettlement {
  readonly requestId: string;
  readonly accountId: string;
  /** The process that owns the hold in Redis, or MAIL_OWNER. */
  readonly owner: string;
  /** The terms of the hold as text. */
  readonly hold: string;
  /** Zero for a release. */
  readonly cost: NanoUsd;
  /** An Outcome in the form of `outcomeText`. */
  readonly outcome: string;
  /** The amounts that the limits of the call get back, as JSON. */
  readonly unused: string;
}

/** A row, with the bucket of its account. */
export interface StoredSettlement extends WaitingSettlement {
  readonly bucket: number;
}

export interface Delivery {
  readonly delivered: number;
  /** The errors of the settlements that could not be delivered; their rows stay. */
  readonly failures: readonly unknown[];
}

/** One transaction locks and delivers at most this many. */
const DELIVERED_AT_ONCE = 200;
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

export class WaitingSettlements {
  constructor(readonly database: Database) {}

  /** Stores a settlement. A second one of the same call changes nothing. */
  async keep({ requestId, accountId, ...settlement }: WaitingSettlement): Promise<void> {
    const { db, withTimeout } = this.database;
    const account = sql`(SELECT number FROM accounts WHERE id = ${accountId})`;
    const row = { ...settlement, request: toUuid(requestId), account };
    await withTimeout(db.insert(waitingSettlements).values(row).onConflictDoNothing());
  }

  /** Removes a delivered settlement. Waits for a worker that delivers it at this moment. */
  async remove(requestId: string): Promise<void> {
    const { db, withTimeout } = this.database;
    const isIt = eq(waitingSettlements.request, toUuid(requestId));
    await withTimeout(db.delete(waitingSettlements).where(isIt));
  }

  /**
   * Delivers every settlement that no other process delivers now, and removes its row. The row
   * stays locked meanwhile, so the process of the call, which removes the row too, keeps the reply
   * of its own delivery in Redis for as long as another delivery may be on its way.
   */
  async deliver(send: (settlement: StoredSettlement) => Promise<unknown>): Promise<Delivery> {
    const failures: unknown[] = [];
    let delivered = 0;
    for (let after: string | null = BEFORE_ALL; after !== null; ) {
      const page = await this.#deliverPage(after, send);
      delivered += page.delivered;
      failures.push(...page.failures);
      after = page.last;
    }
    return { delivered, failures };
  }

  /** `last` is null if no page follows. */
  #deliverPage(after: string, send: (settlement: StoredSettlement) => Promise<unknown>) {
    return this.database.db.transaction(async (tx) => {
      const rows = await tx
        .select({ settlement: waitingSettlements, accountId: accounts.id, bucket: accounts.bucket })
        .from(waitingSettlements)
        .innerJoin(accounts, eq(accounts.number, waitingSettlements.account))
        .where(gt(waitingSettlements.request, after))
        .orderBy(asc(waitingSettlements.request))
        .limit(DELIVERED_AT_ONCE)
        .for("update", { of: waitingSettlements, skipLocked: true });
      const results = await Promise.allSettled(
        rows.map(async ({ settlement: { request, cost, ...stored }, accountId, bucket }) => {
          const requestId = fromUuid("request", request);
          await send({ ...stored, requestId, cost: nano(cost), accountId, bucket });
          return request;
        }),
      );
      const sent = results.filter((one) => one.status === "fulfilled").map(({ value }) => value);
      if (sent.length > 0) {
        await tx.delete(waitingSettlements).where(isAnyOf(waitingSettlements.request, sent));
      }
      const hasMore = rows.length === DELIVERED_AT_ONCE;
      return {
        delivered: sent.length,
        failures: results.filter((one) => one.status === "rejected").map(({ reason }) => reason),
        last: hasMore ? (rows.at(-1)?.settlement.request ?? null) : null,
      };
    });
  }
}
