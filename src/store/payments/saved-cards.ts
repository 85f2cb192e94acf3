// The customers that a payment provider knows, and the cards that they let us charge.

import { and, asc, eq, isNull } from "drizzle-orm";
import { newId, type RandomBytes } from "../../core/ids.ts";
import type { Database } from "../servers/database.ts";
import type { Transaction } from "../servers/transaction.ts";
import { accounts } from "../tables/account-schema.ts";
import { providerCustomers, savedCards } from "../tables/payment-schema.ts";

type CardRow = Readonly<typeof savedCards.$inferSelect>;

/** The details that a provider reports of a card; `ref` is the provider's own id of the card. */
export type CardDetails = Pick<
  CardRow,
  "ref" | "brand" | "lastFour" | "expiryMonth" | "expiryYear"
>;

export interface Consent {
  /** The version of the text that the holder agreed to. */
  readonly version: string;
  readonly at: Date;
}

export type SavedCard = Omit<CardRow, "createdAt">;

export class SavedCards {
  constructor(readonly database: Database) {}

  /** The cards of an account that can be charged, oldest first. */
  async list(account: number, provider: string): Promise<SavedCard[]> {
    return await this.database.db
      .select()
      .from(savedCards)
      .where(
        and(
          eq(savedCards.account, account),
          eq(savedCards.provider, provider),
          isNull(savedCards.removedAt),
        ),
      )
      .orderBy(asc(savedCards.number));
  }

  /** Cards that can be charged, of accounts that are closed. */
  async ofClosed(provider: string, max: number): Promise<Pick<SavedCard, "id" | "ref">[]> {
    return await this.database.db
      .select({ id: savedCards.id, ref: savedCards.ref })
      .from(savedCards)
      .innerJoin(accounts, eq(accounts.number, savedCards.account))
      .where(
        and(
          eq(savedCards.provider, provider),
          isNull(savedCards.removedAt),
          eq(accounts.state, "closed"),
        ),
      )
      .limit(max);
  }

  /** Null if there is no such card. */
  async find(id: string): Promise<SavedCard | null> {
    const [row] = await this.database.db.select().from(savedCards).where(eq(savedCards.id, id));
    return row ?? null;
  }

  /** The provider's own id of the account's holder; null when it knows none. */
  async customer(account: number, provider: string): Promise<string | null> {
    const [row] = await this.database.db
      .select()
      .from(providerCustomers)
      .where(and(eq(providerCustomers.account, account), eq(providerCustomers.provider, provider)));
    return row?.customer ?? null;
  }

  /** Stores a customer, and returns the first customer that was stored: this one counts. */
  async setCustomer(account: number, provider: string, customer: string): Promise<string> {
    await this.database.db
      .insert(providerCustomers)
      .values({ account, provider, customer })
      .onConflictDoNothing();
    return (await this.customer(account, provider)) ?? customer;
  }

  /** The number of the account that a customer stands for; null for an unknown customer. */
  async ownerOf(provider: string, customer: string): Promise<number | null> {
    const [row] = await this.database.db
      .select({ account: providerCustomers.account })
      .from(providerCustomers)
      .where(isCustomer(provider, customer));
    return row?.account ?? null;
  }

  /** The provider has deleted a customer: the next top-up makes a new one. */
  async forgetCustomer(provider: string, customer: string): Promise<void> {
    await this.database.db.delete(providerCustomers).where(isCustomer(provider, customer));
  }
}

function isCustomer(provider: string, customer: string) {
  return and(eq(providerCustomers.provider, provider), eq(providerCustomers.customer, customer));
}

/** A card whose holder agreed that it is charged. */
interface NewCard {
  readonly owner: Pick<SavedCard, "account" | "provider">;
  readonly details: CardDetails;
  readonly consent: Consent;
}

/** Saves a card, or renews its details. A card that was removed stays removed. */
export async function saveCardIn(
  tx: Transaction,
  random: RandomBytes,
  { owner, details, consent }: NewCard,
): Promise<void> {
  const { account, provider } = owner;
  const { ref, ...renewed } = details;
  await tx
    .insert(savedCards)
    .values({
      ...details,
      id: newId("card", random),
      account,
      provider,
      consentVersion: consent.version,
      consentAt: consent.at,
    })
    .onConflictDoUpdate({ target: [savedCards.provider, savedCards.ref], set: renewed });
}

/** Marks a card as removed, by the provider's own id of it; null if there is no such card. */
export async function removeCardIn(
  tx: Transaction,
  { provider, ref }: Pick<SavedCard, "provider" | "ref">,
  now: Date,
): Promise<SavedCard | null> {
  const isCard = and(eq(savedCards.provider, provider), eq(savedCards.ref, ref));
  const live = and(isCard, isNull(savedCards.removedAt));
  await tx.update(savedCards).set({ removedAt: now }).where(live);
  const [row] = await tx.select().from(savedCards).where(isCard);
  return row ?? null;
}
