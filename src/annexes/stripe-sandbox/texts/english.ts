// The texts of the pages where a payment is made, in English. The other languages have the same
// form.

import { ENGLISH_CONSENTS } from "../../../core/money/consent.ts";
import { toDollars } from "../../../core/money/money.ts";
import { CREDIT_LINE, FEE_LINE } from "../../../core/money/payment-lines.ts";

export const englishSandbox = {
  notice: "This is the sandbox of Farebox. It is not Stripe, and no real money moves.",
  language: "Language",
  usd: toDollars,
  pay: (amount: string) => `Pay ${amount}`,
  testCard: "Test card",
  cards: {
    accepted: "is accepted, now and later",
    declined: "is declined",
    laterDeclined: "is accepted now, and declined when it is charged later",
    laterHolder: "is accepted now, and needs its holder when it is charged later",
    insufficientFunds: "is declined for insufficient funds",
    disputed: "is accepted, and the payment is disputed at once",
    fraudWarning: "is accepted, and the bank warns that it may be stolen",
    refundFails: "is accepted, and a refund to it fails",
  },
  consents: ENGLISH_CONSENTS,
  line: (name: string, amount: string) => `${name}: ${amount}`,
  credit: CREDIT_LINE,
  fee: FEE_LINE,
  plan: (title: string) => `Plan ${title}`,
  tax: "Tax",
  backUnpaid: "Back, unpaid",
  /** The texts of a page that takes no payment any more. */
  closed: {
    complete: "This page is paid.",
    expired: "This page has expired.",
  },
  paidTitle: "Paid",
  paid: "The payment has succeeded. No real money has moved.",
  back: "Back",
  allPayments: "All payments",
  receipt: "Receipt",
  invoice: "Invoice",
  creditNote: "Credit note",
  /** The reasons by the code of a refused payment. */
  problems: {
    card_declined: "The card was declined.",
    incorrect_number: "The sandbox knows only its own test cards.",
  },
  notFoundTitle: "Not found",
  notFound: "There is no such page.",
};

/** The texts of each language. */
export type SandboxTexts = typeof englishSandbox;
