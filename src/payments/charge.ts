// Attempts to charge a saved card. The number of an attempt is stored before the request to the
// provider and is part of the idempotency key, so that a request repeated after a crash or a
// timeout charges nothing twice.

import { HOUR_MS } from "../core/durations.ts";
import { mayBeCharged } from "../store/payments/charge-consent.ts";
import type { TopUp } from "../store/payments/top-ups.ts";
import { ProviderAway } from "./provider.ts";
import { type ChargeAnswer, type PaymentDeps, readTopUp } from "./read-top-up.ts";

/** After this long without an answer, another process may ask for the same attempt. */
export const ATTEMPT_MS = 60_000;
/** Stripe keeps a key for 24 hours. After that a request with the same key would charge again. */
const KEY_MS = 20 * HOUR_MS;
/** The provider may still complete a request that broke off, usually soon. */
export const BROKEN_OFF_MS = 15 * 60_000;
/**
 * The time after the order at which an undecided attempt is given up. The second attempt begins an
 * hour after the first has failed, so its limit is later.
 */
const GIVEN_UP_MS = { first: BROKEN_OFF_MS, second: 2 * HOUR_MS } as const;

/**
 * Makes the attempt that is due, and stores its answer. Where the card must not be charged any
 * more, only an attempt that was made before counts.
 * @throws ProviderAway: the completer asks again with the same key
 */
export async function attempt(deps: PaymentDeps, topUp: TopUp): Promise<TopUp> {
  const { topUps, provider, now } = deps;
  const number = await topUps.beginAttempt(topUp, {
    nextAttemptAt: new Date(now() + ATTEMPT_MS),
    invoiceDueAt: provider.issuesInvoices ? new Date(now()) : null,
  });
  const current = await topUps.find({ id: topUp.id });
  if (current === null || number === 0) return current ?? topUp;
  const isStopped = !(await mayBeCharged(topUps.deps.database, current));
  const answer = await charged(deps, current, { number, isStopped });
  return (await readTopUp(deps, current, { attempt: { number, ...answer } })).after;
}

async function charged(
  { provider, cards, now }: PaymentDeps,
  topUp: TopUp,
  { number, isStopped }: { readonly number: number; readonly isStopped: boolean },
): Promise<ChargeAnswer> {
  const customer = await cards.customer(topUp.account, provider.name);
  // The provider has deleted the customer, and the card with it.
  if (customer === null) return { payment: null, isStopped };
  const ageMs = now() - topUp.createdAt.getTime();
  const found = async () => {
    const payment = await provider.findPayment(topUp, customer);
    // A missing payment says nothing about the card. After a second attempt, a failure may be that
    // of the first, which was counted before.
    return { payment, isStopped: isStopped || payment === null || number > 1 };
  };
  if (isStopped || ageMs > KEY_MS) return await found();
  try {
    const payment = await provider.chargeCard({ topUp, customer, attempt: number });
    return { payment, isStopped };
  } catch (error) {
    if (!(error instanceof ProviderAway && error.isSaved)) throw error;
    // With the same key the provider repeats the saved failure, and with another key it might
    // charge twice (D-507).
    const answer = await found();
    const isUndecided = answer.payment === null || answer.payment.status === "failed";
    if (isUndecided && ageMs <= GIVEN_UP_MS[number > 1 ? "second" : "first"]) throw error;
    return answer;
  }
}
