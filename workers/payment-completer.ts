// Finds payments that no job works on: an event without a job, an attempt without an answer, and
// changes without an event.

import type { Log } from "../src/core/log.ts";
import { removeEverywhere } from "../src/payments/cards.ts";
import { attempt } from "../src/payments/charge.ts";
import { renewPlans } from "../src/payments/plans.ts";
import { ProviderAway } from "../src/payments/provider.ts";
import { processEvent } from "../src/payments/provider-event.ts";
import { endPage, type PaymentDeps, readTopUp } from "../src/payments/read-top-up.ts";
import type { AutoTopUps } from "../src/store/payments/auto-top-ups.ts";
import type { PaymentQueue } from "../src/store/payments/payment-queue.ts";

const AT_ONCE = 200;
/** The last events of a list may become visible late, so each run looks further back. */
const OVERLAP_MS = 3_600_000;
/** Stripe lists the events of 30 days; a first run has nothing older to look for. */
const FIRST_LIST_MS = 24 * 3_600_000;
/** A payment that is open for this long is read, with or without an event. */
const PENDING_MS = 15 * 60_000;

export interface CompleterDeps {
  readonly payments: PaymentDeps;
  readonly graceMs: number;
  readonly log: Pick<Log, "warn">;
}

/**
 * Processes events that were received, makes attempts and renewals that are due, and ends the pages
 * and removes the cards of accounts that are closed.
 */
export async function completePayments({ payments, graceMs, log }: CompleterDeps): Promise<void> {
  const { events, topUps, cards, provider, now } = payments;
  const before = new Date(now() - graceMs);
  for (const event of await events.unprocessed(provider.name, before, AT_ONCE)) {
    await tried(log, { eventId: event.id }, () => processEvent(payments, event));
  }
  for (const topUp of await topUps.dueAttempts(provider.name, new Date(now()), AT_ONCE)) {
    await tried(log, { topUpId: topUp.id }, () => attempt(payments, topUp));
  }
  // A closed account's payment must not go on: its credit could only be refunded.
  for (const topUp of await topUps.unpaidPages(provider.name, "closed", AT_ONCE)) {
    await tried(log, { topUpId: topUp.id }, () => endPage(payments, topUp));
  }
  for (const card of await cards.ofClosed(provider.name, AT_ONCE)) {
    try {
      await removeEverywhere(payments, card);
    } catch (error) {
      log.warn(
        { cardId: card.id, err: error },
        "A card of a closed account could not be removed; it will be tried again",
      );
    }
  }
  await renewPlans(payments);
}

/**
 * Lists the provider's own events, so that one that was never delivered is processed, and reads
 * open payments again. If only the list fails, the payments are still read; then it throws.
 */
export async function reconcilePayments(
  { payments, log }: Omit<CompleterDeps, "graceMs">,
  queue: Pick<PaymentQueue, "addEvent">,
): Promise<void> {
  const { topUps, provider, now } = payments;
  const startMs = now();
  const failure = await receiveListed(payments, queue, startMs).then(
    () => null,
    (error: unknown) => {
      // If the provider is away, no other payment can be read either.
      if (error instanceof ProviderAway) throw error;
      return error;
    },
  );
  for await (const topUp of topUps.open(provider.name, new Date(startMs - PENDING_MS))) {
    await tried(log, { topUpId: topUp.id }, () => readTopUp(payments, topUp));
  }
  if (failure !== null) throw failure;
}

async function receiveListed(
  { events, provider }: PaymentDeps,
  queue: Pick<PaymentQueue, "addEvent">,
  startMs: number,
): Promise<void> {
  const listed = await events.listedUntil(provider.name);
  const since = listed === null ? startMs - FIRST_LIST_MS : listed.getTime() - OVERLAP_MS;
  for await (const event of provider.listEvents(new Date(since))) {
    if (await events.receive(event)) await queue.addEvent(event);
  }
  await events.setListedUntil(provider.name, new Date(startMs));
}

/**
 * Finds accounts whose need for a top-up no actor reported: a hold that the sweep settled, a crash.
 */
export async function checkAutoTopUps(
  autoTopUps: Pick<AutoTopUps, "enabled">,
  queue: Pick<PaymentQueue, "addAuto">,
): Promise<void> {
  for (const { id: accountId, bucket } of await autoTopUps.enabled()) {
    await queue.addAuto({ accountId, bucket, refused: null });
  }
}

async function tried(
  log: Pick<Log, "warn">,
  about: { readonly eventId?: string; readonly topUpId?: string },
  run: () => Promise<unknown>,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    const { eventId, topUpId } = about;
    log.warn(
      { eventId, topUpId, err: error },
      "A payment could not be read; it will be tried again",
    );
  }
}
