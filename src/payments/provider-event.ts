// Processes one event of the inbox.

import { messageOf } from "../core/text/error-message.ts";
import { BalanceTooLarge } from "../store/ledger/balance-limit.ts";
import type { EventRef, ProviderEvent } from "../store/payments/provider-events.ts";
import { removeCard, removeCustomer } from "./cards.ts";
import { topUpOfPage, topUpOfPayment } from "./find-top-up.ts";
import type { EventSubject } from "./provider.ts";
import { type PaymentDeps, readTopUp } from "./read-top-up.ts";

/** Words for events that change nothing here. */
const TOO_LARGE = "balance too large";
const IGNORED = { foreign: "not ours", unknown: "unknown" } as const;

/**
 * Processes an event that was received; one that is processed already changes nothing. If the job
 * fails, the event stays received, and the completer tries the event again.
 * @throws ProviderAway
 */
export async function processEvent(deps: PaymentDeps, ref: EventRef): Promise<void> {
  const event = await deps.events.findReceived(ref);
  if (event === null) return;
  try {
    await processSubject(deps, event, await deps.provider.subjectOf(event));
  } catch (error) {
    // A repeat would find the same balance: `farebox payment reread` books it when there is room.
    if (error instanceof BalanceTooLarge) {
      deps.log.error({ eventId: event.id, err: error }, "A payment does not fit into a balance");
      return await deps.events.ignored(ref, TOO_LARGE);
    }
    await deps.events.failed(ref, error instanceof Error ? messageOf(error) : String(error));
    throw error;
  }
}

async function processSubject(
  deps: PaymentDeps,
  event: ProviderEvent,
  subject: EventSubject,
): Promise<void> {
  switch (subject.kind) {
    case "checkout":
    case "payment":
      return await processPayment(deps, event, subject);
    case "card_removed":
      return await removeCard(deps, subject.card, event);
    case "customer_removed":
      await removeCustomer(deps, subject.customer);
      return await deps.events.ignored(event, "customer removed");
    case "none":
      return await deps.events.ignored(event, IGNORED.unknown);
  }
}

async function processPayment(
  deps: PaymentDeps,
  event: ProviderEvent,
  subject: Extract<EventSubject, { kind: "checkout" | "payment" }>,
): Promise<void> {
  const topUp = await topUpOf(deps, subject);
  if (topUp === null) return await deps.events.ignored(event, IGNORED.foreign);
  const intent = subject.kind === "payment" ? { intent: subject.intent } : {};
  await readTopUp(deps, topUp, { event, ...intent });
}

async function topUpOf(
  deps: PaymentDeps,
  subject: Extract<EventSubject, { kind: "checkout" | "payment" }>,
) {
  const { provider, topUps } = deps;
  if (subject.kind === "checkout") {
    const { checkout } = subject;
    const known = await topUps.find({ provider: provider.name, checkout });
    return (
      known ?? (await topUpOfPage(deps, { ...(await provider.readCheckout(checkout)), checkout }))
    );
  }
  const { intent } = subject;
  const known = await topUps.find({ provider: provider.name, intent });
  if (known !== null) return known;
  const payment = await provider.readPayment(intent);
  return payment === null ? null : await topUpOfPayment(deps, payment);
}
