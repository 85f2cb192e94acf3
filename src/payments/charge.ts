// An attempt to charge a saved card. Its number is stored before the provider is asked, and names
// the idempotency key: asked again after a crash or a timeout, the provider charges nothing twice.

import { HOUR_MS } from "../core/limits.ts";
import { mayBeCharged } from "../store/charge-consent.ts";
import type { TopUp } from "../store/top-ups.ts";
import type { ProviderPayment } from "./provider.ts";
import { type PaymentDeps, readTopUp } from "./read-top-up.ts";

/** After this long without an answer, another process may ask for the same attempt. */
export const ATTEMPT_MS = 60_000;
/** Stripe keeps a key for 24 hours. After that a request with it would charge anew. */
const KEY_MS = 20 * HOUR_MS;

/**
 * Makes the attempt that is due, and stores its answer. Where the card must not be charged any
 * more, only an attempt that was made before counts.
 * @throws ProviderAway: the completer asks again with the same key
 */
export async function attempt(deps: PaymentDeps, topUp: TopUp): Promise<TopUp> {
  const { topUps, now } = deps;
  const number = await topUps.beginAttempt(topUp, new Date(now() + ATTEMPT_MS));
  const current = await topUps.find({ id: topUp.id });
  if (current === null || number === 0) return current ?? topUp;
  const isStopped = !(await mayBeCharged(topUps.deps.database, current));
  const payment = await charged(deps, current, { number, isStopped });
  return (await readTopUp(deps, current, { attempt: { number, payment, isStopped } })).after;
}

async function charged(
  { provider, cards, now }: PaymentDeps,
  topUp: TopUp,
  { number, isStopped }: { readonly number: number; readonly isStopped: boolean },
): Promise<ProviderPayment | null> {
  const customer = await cards.customer(topUp.account, provider.name);
  // The provider has deleted its customer, with the card.
  if (customer === null) return null;
  if (isStopped || now() - topUp.createdAt.getTime() > KEY_MS)
    return await provider.findPayment(topUp, customer);
  return await provider.chargeCard({ topUp, customer, attempt: number });
}
