// Refunds of top-ups, ordered here and made by the provider. What it then says of the payment is
// what takes credit back.

import { dollars } from "../core/audit-finding.ts";
import { AdministrationError } from "../core/errors.ts";
import type { NanoUsd } from "../core/money.ts";
import { paidFor, type TopUp } from "../store/top-ups.ts";
import { RefundRefused } from "./provider.ts";
import { type PaymentDeps, readTopUp } from "./read-top-up.ts";
import { checkCents } from "./top-ups.ts";

export interface RefundOrder {
  /** What the payer gets back, fee and tax in proportion; null: all that is left. */
  readonly amount: NanoUsd | null;
  /** The same reference never refunds the same top-up twice. */
  readonly reference: string;
}

/**
 * Has the provider refund a top-up, and stores what it says of the payment then.
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
  await deps.provider
    .refund(intent, amount, `${id}-refund-${reference}`)
    .catch((error: unknown) => refused(error, id, reference));
  return (await readTopUp(deps, topUp)).after;
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
