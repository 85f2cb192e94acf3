// Invoices of charges of a saved card: automatic ones, those that a holder asks for, and the months
// of plans. A worker has the provider issue them, after the payment was booked.

import { DAY_MS, MINUTE_MS } from "../core/durations.ts";
import type { TopUp } from "../store/payments/top-ups.ts";
import { ProviderAway } from "./provider.ts";
import type { PaymentDeps } from "./read-top-up.ts";

type InvoiceDeps = Pick<PaymentDeps, "provider" | "topUps" | "now" | "log">;

const AT_ONCE = 100;
/** After this time an invoice that could not be issued is tried again... */
const AGAIN_MS = 10 * MINUTE_MS;
/** ... until so long after the payment. */
const GIVEN_UP_MS = 30 * DAY_MS;

/**
 * Issues the invoices that are due. The failure of one invoice stops no other. @throws ProviderAway
 */
export async function issueDueInvoices(deps: InvoiceDeps): Promise<void> {
  const { provider, topUps, now, log } = deps;
  if (!provider.issuesInvoices) return;
  for (const topUp of await topUps.dueInvoices(provider.name, new Date(now()), AT_ONCE)) {
    try {
      await issueInvoice(deps, topUp);
    } catch (error) {
      // If the provider is away, no other invoice can be issued either, and all are due again at
      // the next run.
      if (error instanceof ProviderAway) throw error;
      const { id: topUpId, number, endedAt } = topUp;
      const isOver = now() - (endedAt?.getTime() ?? 0) > GIVEN_UP_MS;
      await topUps.setInvoiceDue(number, isOver ? null : new Date(now() + AGAIN_MS));
      if (isOver) log.error({ topUpId, err: error }, "A payment gets no invoice any more");
      else log.warn({ topUpId, err: error }, "A payment has no invoice yet; it is tried again");
    }
  }
}

/** Issues the invoice of a paid charge, if one is due. @throws as `PaymentProvider.issueInvoice` */
export async function issueInvoice(
  { provider, topUps, now }: Pick<InvoiceDeps, "provider" | "topUps" | "now">,
  topUp: TopUp,
): Promise<void> {
  if (topUp.invoiceDueAt === null) return;
  await provider.issueInvoice(topUp);
  await topUps.invoiced(topUp.number, new Date(now()));
}
