// After a restore: every payment that the provider has is read again, and the top-ups of those that
// the restored ledger does not know are made again, so that no payment is lost.

import { subtract } from "../core/money.ts";
import { remakeTopUp } from "../store/lost-top-ups.ts";
import type { ProviderPayment } from "./provider.ts";
import { auditPayments } from "./provider-audit.ts";
import { type PaymentDeps, readTopUp } from "./read-top-up.ts";

/** A payment that the restored ledger did not have as the provider has it. */
export interface RereadPayment {
  /** The provider's own id of it. */
  readonly ref: string;
  readonly topUp: string | null;
  readonly account: string | null;
  /**
   * `read`: the top-up was there. `remade`: it was made again; `account_remade`: and so was its
   * account, which has no keys and no people. `unknown`: nothing tells whose it is.
   */
  readonly result: "read" | "remade" | "account_remade" | "unknown";
}

/**
 * Books what the provider was paid and the ledger does not have, and what was given back since.
 * @throws ProviderAway
 */
export async function rereadPayments(deps: PaymentDeps): Promise<RereadPayment[]> {
  const { findings } = await auditPayments(deps);
  const reread: RereadPayment[] = [];
  for (const { ref } of findings) {
    const payment = await deps.provider.readPayment(ref);
    // One that only the ledger has stays a finding of the audit.
    if (payment !== null) reread.push(await rereadPayment(deps, payment));
  }
  return reread;
}

async function rereadPayment(deps: PaymentDeps, payment: ProviderPayment): Promise<RereadPayment> {
  const { intent: ref, topUpId } = payment;
  const unknown = { ref, topUp: topUpId, account: null, result: "unknown" } as const;
  if (topUpId === null) return unknown;
  const known = await deps.topUps.find({ id: topUpId });
  const result = known === null ? await remake(deps, topUpId, payment) : "read";
  const topUp = known ?? (await deps.topUps.find({ id: topUpId }));
  if (result === null || topUp === null) return unknown;
  await readTopUp(deps, topUp, { intent: ref });
  return { ref, topUp: topUpId, account: topUp.accountId, result };
}

/** Null if the payment does not say what was ordered. */
async function remake(
  { topUps, provider, now }: PaymentDeps,
  id: string,
  { intent, order, received, tax, paidAt }: ProviderPayment,
): Promise<"remade" | "account_remade" | null> {
  if (order === null || received < order.amount) return null;
  // A tax that a page added is not told apart from the fee here: the payer paid both.
  const fee = subtract(subtract(received, order.amount), tax);
  const createdAt = paidAt ?? new Date(now());
  const lost = { ...order, id, intent, provider: provider.name, fee, createdAt };
  return (await remakeTopUp(topUps.deps, lost)) ? "account_remade" : "remade";
}
