// Texts of billing.

import { ENGLISH_FAILURES } from "../../../../src/core/money/payment-failures.ts";
import { moneyText } from "../../money.ts";
import { countText } from "../../numbers.ts";

export const billingTexts = {
  forbidden: (role: string) => `Your role here is ${role}; somebody with billing rights can pay.`,
  noProvider: "This installation has no payment provider. Its operator records payments by hand.",
  sandbox:
    "Payments run in a sandbox: no real money moves. Card 4242 4242 4242 4242 pays, " +
    "4000 0000 0000 0002 is declined.",
  owedHow:
    "A payment was taken back after its credit was spent. Add credit: it pays what is owed " +
    "first, and calls work again at once.",
  caps: {
    title: "Limits of top-ups",
    now: "Now at most",
    min: "At least",
    once: "One top-up",
    day: "In 24 hours",
    autoMonth: "Automatically a month",
    fee: "Fee",
    tax: "Tax",
  },
  taxAdded: "added by the payment provider to what you pay",
  fee: ({ percent, fixed_usd: fixed }: { percent: number; fixed_usd: string }) =>
    `${countText(percent)} % + ${moneyText(fixed)}`,
  amount: "Amount of credit in USD",
  payWith: "Pay with",
  otherCard: "A card on the payment page",
  saveCard: "Save the card",
  saveCardAbout: "For later top-ups that you start, or that you turn on below.",
  toPage: "To the payment page",
  payNow: "Pay now",
  youPay: "You pay",
  youGet: "You get",
  plusTax: "plus tax",
  bonusOnTop: "Bonus on top, for a first payment",
  ofItFee: "Fee in it",
  paysOwed: "Pays what is owed",
  tooSmall: (least: string) => `At least ${least}`,
  tooLarge: (most: string) => `At most ${most} now`,
  noPage: "The payment provider gave no page to pay on. Try again.",
  declined: (why: string | null) =>
    why === null ? "The card was declined. Nothing was charged." : `The card was declined: ${why}`,
  lostAnswer:
    "It is not known whether the card was charged. Pay once more: this order is never charged " +
    "twice. Before you make another one, look at the payments.",
  earlierOrder:
    "An order of another amount was taken before, so this one was not. Look at the payments, and " +
    "pay again if you want both.",
  credited: (amount: string) => `${amount} was added to your balance.`,
  returned: {
    open: (amount: string) => `The payment of ${amount} is not confirmed yet …`,
    succeeded: (amount: string) => `${amount} was added to your balance.`,
    failed: (amount: string) => `The payment of ${amount} failed; nothing was charged.`,
    expired: (amount: string) => `The payment of ${amount} was not completed.`,
  },
  returnedUnknown: "What became of your payment is not known yet; this page asks again.",
  underWay: "The payment is under way; the balance follows as soon as it is confirmed.",
  cards: "Saved cards",
  card: "Card",
  noCards: "No card is saved. One is saved when you add credit, if you choose so.",
  cardFacts: (expires: string, saved: string) => `until ${expires} · saved ${saved}`,
  removeCard: "Remove",
  removeCardTitle: (card: string) => `Remove ${card}?`,
  removeCardAbout: "It is deleted at the payment provider too. An automatic top-up with it pauses.",
  cardRemoved: "The card is removed.",
  autoAbout:
    "When the balance falls below the threshold, a saved card is charged and the credit is added " +
    "at once.",
  autoNeedsCard: "It needs a saved card: add credit once and save the card.",
  autoNotInTier: "It is available from your first payment on.",
  autoOn: "Turn on",
  autoOff: "Turn off",
  autoOffTitle: "Turn the automatic top-up off?",
  autoOffAbout: "No card is charged without you any more. Calls stop when the balance is spent.",
  autoChange: "Change",
  autoResume: "Check and resume",
  autoSaved: "The automatic top-up is on.",
  autoPaused: (reason: string | null) =>
    `It is paused${reason === null ? "" : `: ${reason}`}. Check the card, then resume it.`,
  /** The words that one agrees to, by their version; those of the server are in English. */
  consent: (_: string, words: string) => words,
  autoAmount: "Adds each time",
  autoCharged: "The card is charged each time:",
  autoBelow: "When the balance is below",
  autoCap: "At most in a month (UTC)",
  autoCaps: (once: string, month: string) =>
    `Your tier allows ${once} each time and ${month} a month.`,
  payments: "Payments",
  paymentsAbout: "Times are UTC",
  paymentsCut: (most: number) =>
    `The newest ${most} payments and top-ups; the ledger below has all that changed the balance.`,
  noPayments: "No payments yet",
  noPaymentsAbout: "Credit that you add is listed here with its receipt.",
  payment: "Payment",
  bonus: "Bonus",
  refund: "Refund",
  dispute: "Dispute",
  receipt: "Receipt",
  documents: {
    open: "Invoice",
    title: "Invoice and credit notes",
    none: "This payment has no invoice.",
    kinds: { invoice: "Invoice", credit_note: "Credit note" },
  },
  /** The reasons in the ledger that the service gives. */
  reasons: { provider: "by the payment provider" },
  voucher: {
    reason: (batch: string) => `voucher ${batch}`,
    title: "Redeem a voucher",
    about:
      "The voucher adds to the balance of this account, or gives it free credit for models or a " +
      "plan, each with an end.",
    code: "Code of the voucher",
    redeem: "Redeem",
    redeemed: (usd: string) => `${usd} was added to your balance.`,
    redeemedFree: (usd: string, day: string) => `${usd} of free credit was added, until ${day}.`,
    redeemedPlan: (plan: string, day: string) => `You have the plan ${plan} until ${day}.`,
    repeated: "This account had redeemed the voucher before; nothing was added.",
  },
  goOn: "Go on paying",
  plusFee: (fee: string) => `plus ${fee} fee`,
  plusPaidTax: (tax: string) => `plus ${tax} tax`,
  columns: {
    at: "When (UTC)",
    what: "What",
    state: "State",
    receipt: "Receipt",
    amount: "Credit",
  },
  kinds: {
    checkout: "Top-up",
    card: "Top-up by saved card",
    auto: "Automatic top-up",
    plan: "Plan",
  },
  states: {
    open: "open",
    succeeded: "paid",
    failed: "failed",
    expired: "not paid",
    refunded: "refunded",
  },
  failures: ENGLISH_FAILURES,
  disputes: { open: "open", won: "decided for you", lost: "lost" },
  ledger: "Ledger",
  ledgerKind: "What the ledger shows",
  ledgerKinds: { operations: "Without calls", all: "Everything" },
  noEntries: "Nothing has changed this balance yet.",
  ledgerColumns: {
    at: "When (UTC)",
    what: "What",
    about: "About",
    amount: "Change",
    paid: "Paid after",
    free: "Free after",
    owed: "Owed after",
  },
  entries: {
    charge: "Call",
    late_charge: "Call, charged late",
    credit: "Credit",
    bonus: "Bonus",
    reversal: "Taken back",
    restore: "Given back",
    adjustment: "Adjustment",
    forgiven: "Forgiven",
    repayment: "Paid what was owed",
    free_expired: "Free credit ended",
  },
};
