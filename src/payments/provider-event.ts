// Processes one event of the inbox.

import { messageOf } from "../core/error-message.ts";
import type { EventRef, ProviderEvent } from "../store/provider-events.ts";
import { removeCard, removeCustomer } from "./cards.ts";
import type { EventSubject } from "./provider.ts";
import { type PaymentDeps, readTopUp } from "./read-top-up.ts";

/** Words for events that change nothing here. */
const IGNORED = { foreign: "not ours", unknown: "unknown" } as const;

/**
 * Processes an event that was received; one that is processed already changes nothing. If it fails,
 * the event stays received, and the completer tries it again.
 * @throws ProviderAway
 */
export async function processEvent(deps: PaymentDeps, ref: EventRef): Promise<void> {
  const event = await deps.events.findReceived(ref);
  if (event === null) return;
  try {
    await processSubject(deps, event, await deps.provider.subjectOf(event));
  } catch (error) {
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
  const { provider, topUps, events } = deps;
  const ref =
    subject.kind === "checkout" ? { checkout: subject.checkout } : { intent: subject.intent };
  const known = await topUps.find({ provider: provider.name, ...ref });
  const topUp = known ?? (await findByPayment(deps, subject));
  if (topUp === null) return await events.ignored(event, IGNORED.foreign);
  const intent = subject.kind === "payment" ? { intent: subject.intent } : {};
  await readTopUp(deps, topUp, { event, ...intent });
}

/** What we have not seen yet names its top-up in its metadata. */
async function findByPayment(
  { provider, topUps }: PaymentDeps,
  subject: Extract<EventSubject, { kind: "checkout" | "payment" }>,
) {
  const seen =
    subject.kind === "checkout"
      ? await provider.readCheckout(subject.checkout)
      : await provider.readPayment(subject.intent);
  const id = seen?.topUpId ?? null;
  const topUp = id === null ? null : await topUps.find({ id });
  return topUp?.provider === provider.name ? topUp : null;
}
