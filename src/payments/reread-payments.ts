// Reads every payment of the provider again after a restore. Makes the top-ups of payments that the
// restored ledger does not know again, so that no payment is lost.

import { subtract } from "../core/money/money.ts";
import { findAccountNumber } from "../store/accounts/account-number.ts";
import { remakeTopUp } from "../store/payments/lost-top-ups.ts";
import { topUpOfPayment } from "./find-top-up.ts";
import type { ProviderPayment } from "./provider.ts";
import { auditPayments } from "./provider-audit.ts";
import { type PaymentDeps, readTopUp } from "./read-top-up.ts";

/** A payment that the restored ledger did not have as the provider has it. */
export interface RereadPayment {
  /** The provider's own id of the payment. */
  readonly ref: string;
  readonly topUp: string | null;
  readonly account: string | null;
  /**
   * `read`: the ledger had the top-up. `remade`: the top-up was made again. `account_remade`: its
   * account was made again too, and has no keys and no people. `unknown`: the payment's account is
   * not known.
   */
  readonly result: "read" | "remade" | "account_remade" | "unknown";
}

/**
 * Books payments that the provider has and the ledger lacks, and refunds since the backup.
 * @throws ProviderAway
 */
export async function rereadPayments(deps: PaymentDeps): Promise<RereadPayment[]> {
  const { findings } = await auditPayments(deps);
  const reread: RereadPayment[] = [];
  for (const { ref } of findings) {
    const payment = await deps.provider.readPayment(ref);
    // A payment that only the ledger has stays a finding of the audit.
    if (payment !== null) reread.push(await rereadPayment(deps, payment));
  }
  return reread;
}

async function rereadPayment(deps: PaymentDeps, payment: ProviderPayment): Promise<RereadPayment> {
  const { intent: ref, topUpId } = payment;
  const unknown = { ref, topUp: topUpId, account: null, result: "unknown" } as const;
  const known = await topUpOfPayment(deps, payment);
  const made = known === null ? await remake(deps, payment) : null;
  const topUp = known ?? made?.topUp ?? null;
  if (topUp === null) return unknown;
  await readTopUp(deps, topUp, { intent: ref });
  return { ref, topUp: topUp.id, account: topUp.accountId, result: made?.result ?? "read" };
}

/** Null if the payment does not contain its order, or if our rows contradict the order. */
async function remake(deps: PaymentDeps, payment: ProviderPayment) {
  const { topUps, provider, now } = deps;
  const { topUpId: id, intent, order, received, tax, paidAt, customer } = payment;
  if (id === null || order === null || received < order.amount) return null;
  if ((await topUps.find({ id })) !== null) return null;
  const owner = customer === null ? null : await deps.cards.ownerOf(provider.name, customer);
  const { db } = topUps.deps.database;
  if (owner !== null && owner !== (await findAccountNumber(db, order.accountId))) return null;
  // This amount does not separate the fee from a tax that a page added: the payer paid both.
  const fee = subtract(subtract(received, order.amount), tax);
  const createdAt = paidAt ?? new Date(now());
  // The payment may have its invoice already; the request to issue the invoice then finds it.
  const isDue = provider.issuesInvoices && order.kind !== "checkout";
  const invoiceDueAt = isDue ? new Date(now()) : null;
  const lost = { ...order, id, intent, provider: provider.name, fee, createdAt, invoiceDueAt };
  const result = (await remakeTopUp(topUps.deps, lost)) ? "account_remade" : "remade";
  return { topUp: await topUps.find({ id }), result } as const;
}
