// The automatic top-up of an account (SPEC 3.2): its terms, its card and its state.

import { and, eq } from "drizzle-orm";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import type { AccountRef, AlsoInTransaction } from "../accounts/accounts.ts";
import { lockAccount, raiseVersion } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import type { Queries, Transaction } from "../servers/transaction.ts";
import { accounts } from "../tables/account-schema.ts";
import { autoTopUps, savedCards } from "../tables/payment-schema.ts";
import type { Consent } from "./saved-cards.ts";

/** The reasons for which an automatic top-up is paused. */
export type PauseReason =
  | "card_failed"
  | "authentication_required"
  | "card_removed"
  | "refund"
  | "dispute"
  | "fraud_warning";

export interface AutoTopUpTerms {
  readonly amount: NanoUsd;
  /** The card is charged when the paid balance, held money included, falls below this amount. */
  readonly threshold: NanoUsd;
  /** The most that is charged in a UTC month. */
  readonly monthlyCap: NanoUsd;
}

/** A row, with the card that it charges. */
export interface AutoTopUp
  extends AutoTopUpTerms,
    Omit<Readonly<typeof autoTopUps.$inferSelect>, keyof AutoTopUpTerms> {
  readonly cardId: string;
  readonly lastFour: string;
  readonly isCardRemoved: boolean;
}

export class AutoTopUps {
  constructor(readonly database: Database) {}

  /** Null if the account has no automatic top-up. */
  async find(account: number): Promise<AutoTopUp | null> {
    return await readAutoTopUp(this.database.db, account);
  }

  /** The accounts whose automatic top-up is enabled. */
  async enabled(): Promise<AccountRef[]> {
    return await this.database.db
      .select({ id: accounts.id, bucket: accounts.bucket })
      .from(autoTopUps)
      .innerJoin(accounts, eq(accounts.number, autoTopUps.account))
      .where(eq(autoTopUps.state, "enabled"));
  }

  /** Sets up or changes the automatic top-up of an account, and enables it. */
  async enable(
    account: number,
    terms: AutoTopUpTerms,
    {
      card,
      consent,
      now,
      also,
    }: {
      readonly card: number;
      readonly consent: Consent;
      readonly now: Date;
      readonly also?: AlsoInTransaction | undefined;
    },
  ): Promise<void> {
    const values = {
      ...terms,
      card,
      state: "enabled" as const,
      reason: null,
      consentVersion: consent.version,
      consentAt: consent.at,
      changedAt: now,
    };
    await this.database.db.transaction(async (tx) => {
      await lockAccount(tx, account);
      await tx
        .insert(autoTopUps)
        .values({ account, ...values })
        .onConflictDoUpdate({ target: autoTopUps.account, set: values });
      await raiseVersion(tx, account);
      await also?.(tx, account);
    });
  }

  /** Removes the automatic top-up; false if the account had none. */
  async remove(account: number, also?: AlsoInTransaction): Promise<boolean> {
    return await this.database.db.transaction(async (tx) => {
      await lockAccount(tx, account);
      const removed = await tx
        .delete(autoTopUps)
        .where(eq(autoTopUps.account, account))
        .returning({ account: autoTopUps.account });
      if (removed.length === 0) return false;
      await raiseVersion(tx, account);
      await also?.(tx, account);
      return true;
    });
  }
}

/**
 * Reads the automatic top-up of an account, in a transaction or without one; null if there is none.
 */
export async function readAutoTopUp(queries: Queries, account: number): Promise<AutoTopUp | null> {
  const [row] = await queries
    .select({
      auto: autoTopUps,
      cardId: savedCards.id,
      lastFour: savedCards.lastFour,
      removedAt: savedCards.removedAt,
    })
    .from(autoTopUps)
    .innerJoin(savedCards, eq(savedCards.number, autoTopUps.card))
    .where(eq(autoTopUps.account, account));
  if (row === undefined) return null;
  const { amount, threshold, monthlyCap, ...rest } = row.auto;
  return {
    ...rest,
    amount: nano(amount),
    threshold: nano(threshold),
    monthlyCap: nano(monthlyCap),
    cardId: row.cardId,
    lastFour: row.lastFour,
    isCardRemoved: row.removedAt !== null,
  };
}

/**
 * Pauses an enabled automatic top-up; false if none was enabled. The caller holds the lock of the
 * account's row.
 */
export async function pauseAutoIn(
  tx: Transaction,
  account: number,
  { reason, now }: { readonly reason: PauseReason; readonly now: Date },
): Promise<boolean> {
  return await setStateIn(tx, account, { from: "enabled", to: "paused", reason, now });
}

/** The provider's clock may be behind, and tells whole seconds. */
const CLOCK_SKEW_MS = 300_000;

/**
 * Enables an automatic top-up again that was paused before the holder paid, unless its card is
 * removed. The caller holds the lock of the account's row.
 */
export async function resumeAutoIn(
  tx: Transaction,
  account: number,
  { paidAt, now }: { readonly paidAt: Date; readonly now: Date },
): Promise<boolean> {
  const auto = await readAutoTopUp(tx, account);
  if (auto === null || auto.isCardRemoved) return false;
  if (paidAt.getTime() < auto.changedAt.getTime() - CLOCK_SKEW_MS) return false;
  return await setStateIn(tx, account, { from: "paused", to: "enabled", reason: null, now });
}

interface StateChange {
  readonly from: AutoTopUp["state"];
  readonly to: AutoTopUp["state"];
  readonly reason: PauseReason | null;
  readonly now: Date;
}

async function setStateIn(
  tx: Transaction,
  account: number,
  { from, to, reason, now }: StateChange,
): Promise<boolean> {
  const changed = await tx
    .update(autoTopUps)
    .set({ state: to, reason, changedAt: now })
    .where(and(eq(autoTopUps.account, account), eq(autoTopUps.state, from)))
    .returning({ account: autoTopUps.account });
  if (changed.length > 0) await raiseVersion(tx, account);
  return changed.length > 0;
}
