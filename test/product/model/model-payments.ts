// The payments of one account with their refunds and disputes, as operations: each changes how much
// of a payment is taken back.

import { DAY_MS } from "../../../src/core/durations.ts";
import type { Operation } from "../../../src/core/journal/journal.ts";
import { least } from "./model-ledger.ts";
import type { NewOperation } from "./model-types.ts";

/** The acts of an operator or a payment provider. */
export type PaymentCommand =
  | { readonly do: "pay"; readonly nano: number; readonly bonus: boolean }
  | { readonly do: "refund"; readonly pick: number; readonly permille: number }
  | { readonly do: "dispute"; readonly pick: number }
  | { readonly do: "decide"; readonly pick: number; readonly isWon: boolean }
  | { readonly do: "failRefund"; readonly pick: number }
  | { readonly do: "adjust"; readonly nano: number }
  | { readonly do: "forgive"; readonly nano: number }
  | { readonly do: "give"; readonly nano: number; readonly days: number };

interface Payment {
  /** Includes the bonus: an account that loses the payment loses the bonus too. */
  readonly credited: bigint;
  refunded: bigint;
  disputed: "never" | "open" | "won" | "lost";
  /** The amount that reversals have taken of it so far. */
  reversed: bigint;
}

export class ModelPayments {
  readonly #payments: Payment[] = [];

  /** The operations of a command; none if it changes nothing. */
  operationsOf(command: PaymentCommand, nowMs: number): NewOperation[] {
    switch (command.do) {
      case "pay":
        return this.#pay(BigInt(command.nano), command.bonus ? BigInt(command.nano) / 10n : 0n);
      case "refund":
        return this.#change(command.pick, (payment) => {
          const rest = payment.credited - payment.refunded;
          payment.refunded += (rest * BigInt(command.permille)) / 1000n;
        });
      case "failRefund":
        return this.#change(command.pick, (payment) => {
          payment.refunded /= 2n;
        });
      case "dispute":
        return this.#change(command.pick, (payment) => {
          if (payment.disputed === "never") payment.disputed = "open";
        });
      case "decide":
        return this.#change(command.pick, (payment) => {
          if (payment.disputed === "open") payment.disputed = command.isWon ? "won" : "lost";
        });
      case "adjust":
        return command.nano === 0 ? [] : [paid("adjustment", BigInt(command.nano))];
      case "forgive":
        return [paid("forgiven", BigInt(command.nano) + 1n)];
      case "give":
        return [
          {
            kind: "credit",
            balance: "free",
            amount: BigInt(command.nano) + 1n,
            expiresAtMs: nowMs + command.days * DAY_MS,
          },
        ];
    }
  }

  #pay(amount: bigint, bonus: bigint): NewOperation[] {
    if (amount === 0n) return [];
    const credited = amount + bonus;
    this.#payments.push({ credited, refunded: 0n, disputed: "never", reversed: 0n });
    return [paid("credit", amount), ...(bonus > 0n ? [paid("bonus", bonus)] : [])];
  }

  /** The difference between the amounts that were taken back and that should be. */
  #change(pick: number, change: (payment: Payment) => void): NewOperation[] {
    const payment = this.#payments[pick % Math.max(1, this.#payments.length)];
    if (payment === undefined) return [];
    change(payment);
    const isGone = payment.disputed === "open" || payment.disputed === "lost";
    const target = isGone ? payment.credited : least(payment.refunded, payment.credited);
    const difference = target - payment.reversed;
    payment.reversed = target;
    if (difference === 0n) return [];
    return [difference > 0n ? paid("reversal", -difference) : paid("restore", -difference)];
  }
}

function paid(kind: Operation["kind"], amount: bigint): NewOperation {
  return { kind, balance: "paid", amount, expiresAtMs: null };
}
