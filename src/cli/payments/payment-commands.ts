import { findAccount } from "../../accounts/administration.ts";
import {
  type Changed,
  disputePayment,
  recordPayment,
  refundPayment,
} from "../../accounts/payments.ts";
import { dollars, subtract, toJsonNumber, ZERO } from "../../core/money/money.ts";
import { DISPUTE_STATES } from "../../core/money/payment-credit.ts";
import { rereadPayments } from "../../payments/reread-payments.ts";
import { type Answer, type Command, UsageError } from "../command.ts";
import { notedChanges } from "../noted.ts";
import { utc } from "../print.ts";
import { amountOf, idOf, nameAmong, positiveAmountOf, referenceOf, timeOf } from "../values.ts";
import { paymentJson, paymentsText } from "./payment-print.ts";
import { paymentsOf } from "./top-up-commands.ts";

const REFERENCE = { value: "REF", help: "your own id; a repeat with it changes nothing" };

const record: Command = {
  name: "payment record",
  positionals: ["ID"],
  summary: "Record a payment that was received elsewhere and credit it; it counts for the tier",
  options: {
    usd: { value: "N", help: "the amount, with up to nine decimals", required: true },
    bonus: { value: "N", help: "extra credit, which does not count for the tier (0)" },
    at: { value: "ISO-TIME", help: "when it was paid, in UTC unless it names a zone (now)" },
    id: REFERENCE,
  },
  prepare(input) {
    const account = idOf(input, "account");
    const amount = positiveAmountOf(input, "usd");
    const bonus = input.values.has("bonus") ? amountOf(input, "bonus") : ZERO;
    const at = timeOf(input, "at");
    const paidAt = at ?? new Date(input.nowMs);
    const ref = referenceOf(input, "id");
    if (paidAt.getTime() > input.nowMs) {
      throw new UsageError(`--at must not be in the future, but is ${utc(paidAt)}`);
    }
    return async ({ administration }) => {
      const terms = { amount, bonus, paidAt, isPaidNow: at === null, ref };
      const about = `${dollars(amount)} credited as a payment`;
      const deps = notedChanges(administration, "operator_credit", about);
      const { id, payment, applied } = await recordPayment(deps, account, terms);
      const more = payment.bonus > 0n ? ` and ${dollars(payment.bonus)} bonus` : "";
      return {
        json: {
          id,
          account,
          amount_usd: toJsonNumber(payment.amount),
          bonus_usd: toJsonNumber(payment.bonus),
          paid_at: payment.paidAt,
          applied,
        },
        text:
          `Payment ${id}: ${dollars(payment.amount)}${more} ` +
          `of ${utc(payment.paidAt)} for ${account}.`,
      };
    };
  },
};

const refund: Command = {
  name: "payment refund",
  positionals: ["PAYMENT-ID"],
  summary: "Record a refund and take back its credit: the rest of the payment, or a part",
  options: {
    usd: { value: "N", help: "the amount refunded now (all that is left)" },
    id: REFERENCE,
  },
  prepare(input) {
    const payment = idOf(input, "payment");
    const amount = input.values.has("usd") ? positiveAmountOf(input, "usd") : null;
    const reference = referenceOf(input, "id");
    return async ({ administration }) => {
      const words = amount === null ? "all that is left" : dollars(amount);
      const about = `${words} of ${payment} refunded`;
      const deps = notedChanges(administration, "operator_refund", about);
      const changed = await refundPayment(deps, payment, { amount, reference });
      const { takenBack, operation } = changed;
      const credit = subtract(ZERO, operation?.amount ?? ZERO);
      return {
        json: {
          id: payment,
          operation: operation?.number ?? null,
          refunded_usd: toJsonNumber(takenBack),
          credit_removed_usd: toJsonNumber(credit),
          applied: changed.applied,
        },
        text:
          `Payment ${payment}: ${dollars(takenBack)} refunded, ` +
          `${dollars(credit)} of credit removed.`,
      };
    };
  },
};

const dispute: Command = {
  name: "payment dispute",
  positionals: ["PAYMENT-ID", DISPUTE_STATES.join("|")],
  summary:
    "Record a dispute: open takes back the payment's credit and suspends the account, won " +
    "restores the credit, lost makes its loss final",
  options: {},
  prepare(input) {
    const payment = idOf(input, "payment");
    const word = input.positionals[1];
    const state = nameAmong(DISPUTE_STATES, word);
    if (state === undefined) {
      const states = DISPUTE_STATES.join(", ");
      throw new UsageError(`The dispute must be one of ${states}, but is '${word}'`);
    }
    return async ({ administration }) => {
      const about = `dispute of ${payment}: ${state}`;
      const deps = notedChanges(administration, "operator_dispute", about);
      return disputeAnswer(await disputePayment(deps, payment, { state }));
    };
  },
};

function disputeAnswer({ id, payment, operation, applied }: Changed): Answer {
  const credit = operation?.amount ?? ZERO;
  const effect = credit > 0n ? "restored" : "removed";
  const amount = credit > 0n ? credit : subtract(ZERO, credit);
  return {
    json: {
      id,
      dispute: payment.dispute,
      disputed_usd: toJsonNumber(payment.disputed),
      operation: operation?.number ?? null,
      credit_usd: toJsonNumber(credit),
      applied,
    },
    text:
      `Payment ${id}: the dispute is ${payment.dispute}, ` +
      (operation === null ? "no credit was moved." : `${dollars(amount)} of credit ${effect}.`),
  };
}

const list: Command = {
  name: "payment list",
  positionals: ["ID"],
  summary: "List the payments of an account: amounts, refunds, disputes",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    return async ({ administration }) => {
      const account = await findAccount(administration, id);
      const payments = await administration.payments.list(account);
      return {
        json: { account: id, payments: payments.map(paymentJson) },
        text: `payments of ${id}\n${paymentsText(payments)}`,
      };
    };
  },
};

const reread: Command = {
  name: "payment reread",
  positionals: [],
  summary: "Read again every payment that the provider has otherwise, and book what is missing",
  options: {},
  prepare: () => async (stores) => {
    const payments = await rereadPayments(await paymentsOf(stores));
    const failed = payments.some(({ result }) => result === "unknown");
    const lines = payments.map(({ ref, account, result }) => {
      return `${ref} of ${account ?? "nobody"}: ${result.replace("_", " ")}`;
    });
    const text = lines.length === 0 ? "Every payment is as the provider has it." : lines.join("\n");
    return { json: { payments }, text, failed };
  },
};

export const paymentCommands: readonly Command[] = [record, refund, dispute, list, reread];
