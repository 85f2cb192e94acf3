// Saved cards: listed and removed by their holder, or gone at the provider.

import { AdministrationError } from "../core/errors.ts";
import { removeSavedCard } from "../store/card-removal.ts";
import type { EventRef } from "../store/provider-events.ts";
import type { SavedCard } from "../store/saved-cards.ts";
import type { PaymentDeps } from "./read-top-up.ts";

/** Removes a card at the provider and here. An automatic top-up by it is paused. */
export async function removeOwnCard(
  deps: PaymentDeps,
  account: { readonly number: number; readonly id: string },
  cardId: string,
): Promise<SavedCard> {
  const card = await deps.cards.find(cardId);
  if (card === null || card.account !== account.number || card.removedAt !== null) {
    throw new AdministrationError("not_found", `The account ${account.id} has no card ${cardId}`);
  }
  await deps.provider.removeCard(card.ref);
  await remove(deps, card.ref, null);
  return card;
}

/** The provider says that a card is gone. */
export async function removeCard(deps: PaymentDeps, ref: string, event: EventRef): Promise<void> {
  await remove(deps, ref, event);
}

async function remove(deps: PaymentDeps, ref: string, event: EventRef | null): Promise<void> {
  const { cards, provider, now, log } = deps;
  const removal = { provider: provider.name, ref, event, now: new Date(now()) };
  const removed = await removeSavedCard(cards.database, removal);
  if (removed?.isPaused !== true) return;
  log.warn({ accountId: removed.account.id }, "An automatic top-up was paused: its card is gone");
  try {
    await deps.actors.of(removed.account.id, removed.account.bucket).configure();
  } catch (error) {
    log.warn({ err: error }, "A removed card waits for Redis; the completer tells it");
  }
}
