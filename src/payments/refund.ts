// Refunds of top-ups, ordered here and made by the provider. A reading of the payment afterwards
// takes the credit back.

import { MINUTE_MS } from "../core/durations.ts";
import { AdministrationError } from "../core/errors.ts";
import { dollars, type NanoUsd } from "../core/money/money.ts";
import {
  type DueCreditNote,
  dropRefund,
  nextRefundAttempt,
  orderRefund,
  refundMade,
} from "../store/payments/refund-attempts.ts";
import { paidFor, type TopUp } from "../store/payments/top-ups.ts";
import { BROKEN_OFF_MS } from "./charge.ts";
import { issueCreditNote, refundKey } from "./invoices.ts";
import { ProviderAway, RefundRefused } from "./provider.ts";
import { type PaymentDeps, readTopUp } from "./read-top-up.ts";
import { checkCents } from "./top-ups.ts";

export interface RefundOrder {
  /** The part of what was paid, fee and tax included, to give back; null: all that is left. */
  readonly amount: NanoUsd | null;
  /** The same reference never refunds the same top-up twice. */
  readonly reference: string;
}

/**
 * Has the provider refund a top-up, and then reads the payment.
 * @throws AdministrationError, ProviderAway
 */
export async function refundTopUp(
  deps: PaymentDeps,
  id: string,
  { amount, reference }: RefundOrder,
): Promise<TopUp> {
  const topUp = await deps.topUps.find({ id });
  if (topUp === null || topUp.provider !== deps.provider.name) {
    throw new AdministrationError("not_found", `The payment provider has no top-up ${id}`);
  }
  const { intent, status } = topUp;
  if (intent === null || status !== "succeeded") {
    throw new AdministrationError("wrong_state", `The top-up ${id} is ${status}, not paid`);
  }
  if (amount !== null) {
    checkCents(amount);
    if (amount > paidFor(topUp)) {
      const most = dollars(paidFor(topUp));
      throw new AdministrationError("too_large", `A refund of ${id} must be at most ${most}`);
    }
  }
  await refundOnce(deps, { topUp, intent }, { amount, reference }).catch((error: unknown) =>
    refused(error, id, reference),
  );
  return (await readTopUp(deps, topUp)).after;
}

/**
 * Requests a refund with the order's idempotency key. If the provider has saved a failure under
 * this key and no refund has appeared for 15 minutes, makes another attempt with a new key (D-507).
 */
async function refundOnce(
  deps: PaymentDeps,
  { topUp, intent }: { readonly topUp: TopUp; readonly intent: string },
  { amount, reference }: RefundOrder,
): Promise<void> {
  const { provider, topUps, now } = deps;
  const { database } = topUps.deps;
  const ref = { topUp: topUp.number, reference };
  const first = await orderRefund(database, ref, amount);
  if (first.amount !== amount) {
    throw new RefundRefused("reused", "A refund was ordered by this id with another amount");
  }
  const key = refundKey(topUp, ref);
  if (first.refund !== null) return await credit(deps, topUp, { ref, refund: first.refund });
  for (let { attempt } = first; ; ) {
    try {
      const refund = await provider.refund(intent, { amount, key, attempt });
      const madeAt = new Date(now());
      // The worker leaves the credit note to this process for a minute.
      const dueAt = new Date(now() + MINUTE_MS);
      const creditNoteDueAt = provider.issuesInvoices ? dueAt : null;
      await refundMade(database, ref, { refund, madeAt, creditNoteDueAt });
      return await credit(deps, topUp, { ref, refund });
    } catch (error) {
      if (error instanceof RefundRefused) await dropRefund(database, ref);
      if (!(error instanceof ProviderAway && error.isSaved)) throw error;
      const next = await nextRefundAttempt(database, ref, {
        amount,
        attempt,
        now: new Date(now()),
        seenBefore: new Date(now() - BROKEN_OFF_MS),
      });
      if (next === null) throw error;
      attempt = next;
    }
  }
}

/**
 * Has the credit note issued where the payment has an invoice. The refund stands without it: if the
 * provider is away or refuses, as it does a key without this permission, a worker tries again.
 */
async function credit(
  deps: PaymentDeps,
  topUp: TopUp,
  made: Pick<DueCreditNote, "ref" | "refund">,
): Promise<void> {
  const { provider, log } = deps;
  if (!provider.issuesInvoices) return;
  try {
    await issueCreditNote(deps, topUp, made);
  } catch (error) {
    const { id: topUpId } = topUp;
    log.warn({ topUpId, err: error }, "A refund has no credit note yet; a worker tries again");
  }
}

function refused(error: unknown, id: string, reference: string): never {
  if (!(error instanceof RefundRefused)) throw error;
  if (error.reason === "reused") {
    throw new AdministrationError(
      "reference_reused",
      `The reference '${reference}' stands for another refund of ${id}`,
    );
  }
  throw new AdministrationError(
    "wrong_state",
    `The payment provider does not refund ${id}: ${error.message}`,
  );
}
