// The texts of the sandbox's pages in English. The other languages have the same form.

import { ENGLISH_CONSENTS } from "../../../core/money/consent.ts";
import { localUsd } from "../../../core/money/local-usd.ts";
import type { NanoUsd } from "../../../core/money/money.ts";
import { CREDIT_LINE, FEE_LINE } from "../../../core/money/payment-lines.ts";

export const englishSandbox = {
  notice: "This is the sandbox of Farebox. It is not Stripe, and no real money moves.",
  language: "Language",
  usd: (amount: NanoUsd) => localUsd("en", amount),
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
  refusedTitle: "Refused",
  /** The reasons of a refused action. */
  refusals: {
    changed: "This is not possible any more: the payment has changed meanwhile.",
    foreign: "The sandbox is for pages of this machine alone.",
  },
  /** The page on which a developer plays banks and the holders of cards. */
  bank: {
    title: "Sandbox",
    pages: "Pages to pay on",
    payments: "Payments",
    cards: "Saved cards",
    none: "none",
    payment: (amount: string, state: string) => `${amount}, ${state}`,
    refund: (amount: string, state: string) => `Refund of ${amount}: ${state}`,
    dispute: (state: string) => `Dispute: ${state}`,
    card: (digits: string, result: string) => `•••• ${digits}, next charge: ${result}`,
    change: "Change it:",
    /** The states by Stripe's words for them. */
    paymentStates: { succeeded: "paid", requires_payment_method: "not paid" },
    refundStates: { succeeded: "made", failed: "failed" },
    disputeStates: {
      needs_response: "open",
      warning_needs_response: "only an inquiry of the bank",
      won: "the merchant has won",
      lost: "the merchant has lost",
    },
    /** The results of charging a card. */
    results: {
      ok: "accepted",
      declined: "declined",
      insufficient_funds: "declined for insufficient funds",
      stolen: "declined as stolen",
      authentication: "its holder must confirm",
      refund_fails: "accepted, but a refund fails",
    },
    actions: {
      refund: "Refund",
      dispute: "Dispute",
      inquire: "Inquire",
      warn: "Warn of fraud",
      fail: "Let it fail",
      win: "Let the merchant win",
      lose: "Let the merchant lose",
    },
  },
};

/** The texts of each language. */
export type SandboxTexts = typeof englishSandbox;
