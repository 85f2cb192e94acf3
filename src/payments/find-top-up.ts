// Finds the top-up that a payment of the provider is for. Anybody with access to the provider can
// change the metadata of a payment, so our own rows decide; metadata counts only where no row
// contradicts it (D-200).

import type { TopUp } from "../store/payments/top-ups.ts";
import type { ProviderPayment } from "./provider.ts";
import type { PaymentDeps } from "./read-top-up.ts";

type Deps = Pick<PaymentDeps, "provider" | "topUps" | "cards">;

/** Finds the top-up of a payment. Null if the payment is not ours, or names another's top-up. */
export async function topUpOfPayment(deps: Deps, payment: ProviderPayment): Promise<TopUp | null> {
  const { provider, topUps } = deps;
  const byIntent = await topUps.find({ provider: provider.name, intent: payment.intent });
  if (byIntent !== null) return byIntent;
  const page = await provider.findCheckout(payment.intent);
  if (page !== null) return await topUpOfPage(deps, page);
  if (payment.topUpId === null) return null;
  const named = await topUps.find({ id: payment.topUpId });
  if (named === null || named.provider !== provider.name) return null;
  // The page has reported its payment by now, and a top-up has only one payment.
  if (named.kind === "checkout" || named.intent !== null) return null;
  return (await mayPayFor(deps, payment.customer, named.account)) ? named : null;
}

/** The top-up of a page; null if the page is not ours. */
export async function topUpOfPage(
  { provider, topUps }: Deps,
  { checkout, topUpId }: { readonly checkout: string; readonly topUpId: string | null },
): Promise<TopUp | null> {
  const known = await topUps.find({ provider: provider.name, checkout });
  if (known !== null || topUpId === null) return known;
  // A page whose address was never stored: its reference cannot be changed.
  const named = await topUps.find({ id: topUpId });
  return named?.provider === provider.name && named.checkout === null ? named : null;
}

/** False if a customer of the provider stands for another account than this one. */
async function mayPayFor(
  { provider, cards }: Pick<Deps, "provider" | "cards">,
  customer: string | null,
  account: number,
): Promise<boolean> {
  const owner = customer === null ? null : await cards.ownerOf(provider.name, customer);
  if (owner !== null) return owner === account;
  return (await cards.customer(account, provider.name)) === null;
}
