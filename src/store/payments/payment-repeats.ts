// A repeat by a reference must ask for what was booked under it the first time.

import { dollars } from "../../core/journal/audit-finding.ts";
import { add, ZERO } from "../../core/money/money.ts";
import {
  type OperationRow,
  operationsOf,
  ReferenceReused,
  type Transaction,
} from "../ledger/operations.ts";
import type { ChangedPayment, ChangeTerms, NewPayment, Payment } from "./payments.ts";

/** @throws ReferenceReused if an operator recorded another payment under the reference */
export function refuseOtherPayment(
  first: Payment,
  { ref, amount, bonus = ZERO, ...payment }: NewPayment,
): void {
  const isSameTime =
    payment.isPaidNow === true || first.paidAt.getTime() === payment.paidAt.getTime();
  if (first.amount === amount && first.bonus === bonus && isSameTime) return;
  throw new ReferenceReused(
    `The reference '${ref}' stands for another payment: ${first.id} of ${dollars(first.amount)} ` +
      `with ${dollars(first.bonus)} bonus, paid at ${first.paidAt.toISOString()}`,
  );
}

/**
 * "All that is left" was taken back if none of the payment's credit stood after it.
 * @throws ReferenceReused if something else was taken back under the reference
 */
export async function refuseOtherChange(
  tx: Transaction,
  { payment, takenBack }: ChangedPayment,
  { number }: OperationRow,
  { reference, takes }: ChangeTerms,
): Promise<void> {
  if (takes === undefined) return;
  const left = (await operationsOf(tx, payment.number))
    .filter((operation) => operation.number <= number)
    .reduce((sum, { amount }) => add(sum, amount), ZERO);
  if (takes === null ? left === 0n : takes === takenBack) return;
  throw new ReferenceReused(
    `The reference '${reference}' stands for another change of payment ${payment.id}: ` +
      `${dollars(takenBack)} was taken back`,
  );
}
