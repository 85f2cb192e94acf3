// Saved cards: listed and removed by their holder, or gone at the provider.

import { AdministrationError } from "../core/errors.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import { removeSavedCard } from "../store/payments/card-removal.ts";
import type { EventRef } from "../store/payments/provider-events.ts";
import type { SavedCard } from "../store/payments/saved-cards.ts";
import { pauseMail } from "./payment-mails.ts";
import { type PaymentDeps, updateWallet } from "./read-top-up.ts";

type CardOwner = Pick<AccountRow, "number" | "id">;

/**
 * A card of an account that can be charged: this one, or the newest.
 * @throws AdministrationError
 */
export async function chargeableCard(
  { cards, provider }: PaymentDeps,
  owner: CardOwner,
  cardId: string | null,
): Promise<SavedCard> {
  const all = await cards.list(owner.number, provider.name);
  const card = cardId === null ? all.at(-1) : all.find(({ id }) => id === cardId);
  if (card !== undefined) return card;
  throw new AdministrationError(
    "no_card",
    `The account ${owner.id} does not have ${cardId ?? "a saved card"}: pay a top-up on the ` +
      "provider's page first, and have the card saved there",
  );
}

/** Removes a card at the provider and here. An automatic top-up by it is paused. */
export async function removeOwnCard(
  deps: PaymentDeps,
  account: CardOwner,
  cardId: string,
): Promise<SavedCard> {
  const card = await deps.cards.find(cardId);
  if (card === null || card.account !== account.number || card.removedAt !== null) {
    throw new AdministrationError("not_found", `The account ${account.id} has no card ${cardId}`);
  }
  await removeEverywhere(deps, card);
  return card;
}

/** Removes a card at the provider and here. Payments by the card can still be refunded. */
export async function removeEverywhere(
  deps: PaymentDeps,
  { ref }: Pick<SavedCard, "ref">,
): Promise<void> {
  await deps.provider.removeCard(ref);
  await remove(deps, ref, null);
}

/** The provider says that a card is gone. */
export async function removeCard(deps: PaymentDeps, ref: string, event: EventRef): Promise<void> {
  await remove(deps, ref, event);
}

/** Removes a customer that the provider has deleted: its cards can no longer be charged. */
export async function removeCustomer(deps: PaymentDeps, customer: string): Promise<void> {
  const { cards, provider } = deps;
  const owner = await cards.ownerOf(provider.name, customer);
  if (owner === null) return;
  for (const { ref } of await cards.list(owner, provider.name)) await remove(deps, ref, null);
  // The customer is forgotten last, so that a repeat after a crash goes on. The next top-up makes a
  // new customer.
  await cards.forgetCustomer(provider.name, customer);
}

async function remove(deps: PaymentDeps, ref: string, event: EventRef | null): Promise<void> {
  const { cards, provider, now, log, also } = deps;
  const mailsOfPause = (id: string) => [pauseMail(deps.mailsTo(id), "card_removed")];
  const when = { event, now: new Date(now()) };
  const removal = { provider: provider.name, ref, ...when, mailsOfPause, also };
  const removed = await removeSavedCard(cards.database, removal);
  if (removed?.isPaused !== true) return;
  log.warn({ accountId: removed.account.id }, "An automatic top-up was paused: its card is gone");
  await updateWallet(deps, removed.account);
}
