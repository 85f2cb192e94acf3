// The texts of the service's own mails, in English. The other languages have the same form.

import { localUsd } from "../money/local-usd.ts";
import type { NanoUsd } from "../money/money.ts";
import { ENGLISH_FAILURES } from "../money/payment-failures.ts";
import { ENGLISH_READER, mailTime } from "../service-mail.ts";

const IGNORE = "If this was not you, you can ignore this mail: nothing happens without it.";
const FREE_PLAN = "Then the plan ends, and your account is on the Free plan.";

export const englishMails = {
  /** The text between two sentences. */
  gap: " ",
  usd: (amount: NanoUsd) => localUsd("en", amount),
  time: mailTime,
  day: (time: Date) => time.toISOString().slice(0, 10),
  reader: ENGLISH_READER,
  buttons: {
    payments: "Look at your payments",
    cards: "Look at your cards",
    receipt: "Open the receipt",
    topUp: "Top up",
    webhooks: "Look at your webhooks",
    limits: "Look at your limits",
    signIn: "Sign in",
    newPassword: "Set a new password",
  },
  facts: {
    code: "Code",
    role: "Role",
    payment: "Payment",
    date: "Date",
    paidOn: "Paid on",
    price: "Price",
    credit: "Credit",
    bonus: "Bonus",
    fee: "Fee",
    tax: "Tax",
    youPaid: "You paid",
    reference: "Reference",
    reason: "Reason",
    webhook: "Webhook",
    paidBalance: "Paid balance",
    lastTopUp: "Last top-up",
    freeCredit: "Free credit",
    ends: "Ends",
    key: "Key",
    spentInFive: "Spent in five minutes",
    ruleFires: "The rule fires at",
  },
  verification: {
    subject: "Confirm your address",
    paragraphs: [
      "You asked for an account with this address. Confirm it, and your account is open.",
      `The link works for 24 hours. ${IGNORE}`,
    ],
    button: "Confirm this address",
  },
  alreadyKnown: {
    subject: "You already have an account",
    paragraphs: [
      "You asked for an account with this address, but it has one. Sign in, or set a new " +
        "password if you no longer know yours.",
      IGNORE,
    ],
  },
  code: {
    subject: (code: string) => `${code} is your code`,
    paragraphs: [
      "Enter this code where you asked for it. It works once, for five minutes.",
      `Give it to nobody; we never ask for it. ${IGNORE}`,
    ],
  },
  passwordReset: {
    subject: "Set a new password",
    paragraphs: [
      "Somebody asked to set a new password for this address.",
      `The link works for one hour, once. ${IGNORE}`,
    ],
  },
  changeEmail: {
    subject: "Confirm your new address",
    paragraphs: [
      "You asked to sign in with this address from now on. Confirm it while you are signed in.",
      `The link works for one hour. ${IGNORE}`,
    ],
    button: "Use this address",
  },
  invitation: {
    subject: (by: string) => `${by} invites you`,
    paragraphs: (by: string, account: string) => [
      `${by} invites you to the account "${account}".`,
      "Sign in or sign up with this address to accept. The link works for seven days.",
    ],
    button: "See the invitation",
    roles: { owner: "owner", admin: "admin", billing: "billing", viewer: "viewer" },
  },
  /** Changes of the ways to sign in: sentences without their full stop. */
  notices: {
    factorOn: "The app for your second factor was turned on",
    factorOff: "The app for your second factor was turned off",
    codesReplaced: "Your backup codes were replaced",
    passwordChanged: "Your password was changed",
    factorLocked: (minutes: number) =>
      `Your second factor is locked for ${minutes} minutes after too many wrong codes`,
    addressChanged: (to: string) => `Your address was changed to ${to}`,
    addressByOperator: (from: string, to: string) =>
      `The operator changed your address from ${from} to ${to}`,
    passkeyAdded: (name: string) => `A passkey was added: ${name}`,
    passkeyRemoved: (name: string) => `A passkey was removed: ${name}`,
    ssoLinked: (host: string) => `You can now sign in through ${host}`,
  },
  noticeParagraphs: (what: string, isPasskey: boolean) => [
    `${what}. If this was you, there is nothing to do.`,
    `If it was not, ${isPasskey ? "remove the passkey and " : ""}set a new password now, which ` +
      "also ends all sessions.",
  ],
  formerAddressParagraphs: (what: string) => [
    `${what}. If this was you, there is nothing to do.`,
    "If it was not, tell whoever runs this service at once: the address that this mail went " +
      "to no longer signs in, and no link to a new password is sent to it.",
  ],
  payments: {
    plan: (title: string) => `Plan ${title}`,
    kinds: {
      plan: "Plan",
      checkout: "Top-up",
      card: "Top-up by your saved card",
      auto: "Automatic top-up",
    },
    noReason: "no reason given",
    failures: ENGLISH_FAILURES,
  },
  receipt: {
    subject: (credited: string) => `Receipt: ${credited} added to your balance`,
    paragraph: (credited: string) => `Thank you. ${credited} were added to your prepaid balance.`,
  },
  planReceipt: {
    subject: (paid: string, title: string) => `Receipt: ${paid} for the plan ${title}`,
    paid: (title: string, until: string, price: string) =>
      `Thank you. Your plan ${title} is paid until ${until}. For the month after ` +
      `that your card is charged ${price}, unless you cancel the plan before.`,
    extended: (title: string) =>
      `Thank you. This month of your plan ${title} was paid already, so the plan is paid for one ` +
      "month more.",
    takenBack: (title: string) =>
      `Your payment for the plan ${title} has not changed your plan: it was taken back before it ` +
      "could count.",
    late: (title: string) =>
      `Your payment for the plan ${title} has not changed your plan: it came too late. If it is ` +
      "not refunded soon, ask for a refund.",
  },
  autoPaused: {
    subject: "Your automatic top-up is paused",
    reasons: {
      card_failed: "Your card was declined, and is not charged again.",
      authentication_required:
        "Your bank wants you to confirm a payment by your saved card yourself.",
      card_removed: "The card that it charged was removed.",
      refund: "A payment of yours was refunded.",
      dispute: "A payment of yours is disputed, or your bank asks about it.",
      fraud_warning: "The bank of a card reported a payment of yours as possible fraud.",
    },
    /** A card that is gone cannot make a payment succeed. */
    goesOn: (hasCard: boolean) =>
      `Your card is not charged automatically while it is paused. It goes on ${
        hasCard ? "with your next payment that succeeds, or " : ""
      }when you set it again.`,
  },
  chargeFailed: {
    wrongSubject: "A charge of your card was not credited",
    subject: (amount: string) => `Your card was not charged ${amount}`,
    wrong:
      "Your saved card was charged, but not what was ordered, so nothing was added to your " +
      "balance. If the charge is not refunded soon, ask for a refund.",
    failed: (amount: string) =>
      `A charge of ${amount} to your saved card failed. Nothing was charged, and ` +
      "nothing was added to your balance.",
    again: (time: string) => `It is tried once more at ${time}.`,
    notAgain: "It is not tried again.",
  },
  planChargeFailed: {
    wrongSubject: (title: string) => `A charge of your card did not count for the plan ${title}`,
    subject: (amount: string, title: string) =>
      `Your card was not charged ${amount} for the plan ${title}`,
    wrong:
      "Your saved card was charged, but not what the plan costs. If the charge is not " +
      "refunded soon, ask for a refund.",
    failed: (amount: string) =>
      `A charge of ${amount} to your saved card failed, and nothing was charged.`,
    next: {
      start: "The plan has not begun.",
      upgrade: "Your plan stays as it is.",
      renewal:
        "Your plan goes on for three days after the end of its month, and the card is tried " +
        "again " +
        `on each of them. ${FREE_PLAN}`,
      /** No charge was made: the plan may have ended and may need none. */
      notMade:
        "If your plan still needs this month, your card is tried again in the three days after " +
        `the end of the month before. ${FREE_PLAN}`,
    },
  },
  planEnded: {
    subject: (title: string) => `Your plan ${title} has ended`,
    paragraph: (title: string, why: string) => `Your plan ${title} has ended. ${why}`,
    why: {
      canceled: "It was canceled.",
      unpaid: "Its next month was not paid.",
      reversed: "Its payment was taken back.",
      voucher: "The months of its voucher are over.",
    },
    after:
      "Your account is on the Free plan now, with the limits of that plan. Your balance and your " +
      "keys stay as they are.",
  },
  refund: {
    subject: (part: string) => `Refund of ${part}`,
    paragraph: (part: string, whole: string) => `${part} of your payment of ${whole} are refunded.`,
    ofPlan: "It was for a plan, so your balance stays as it is.",
    taken: "The same part of its credit, and of its bonus, was taken from your balance.",
    takenBefore: "Its credit was taken from your balance before.",
    failedSubject: (part: string) => `A refund of ${part} failed`,
    failed: (part: string) => `A refund of ${part} failed at your bank.`,
    givenBack: "Its credit is back on your balance.",
  },
  disputeOpened: {
    subject: "A payment is disputed: your account is suspended",
    ofPlan: (amount: string) =>
      `Your payment of ${amount} for a plan is disputed at your bank. ` +
      "Calls are refused until the dispute is decided.",
    ofCredit: (amount: string) =>
      `Your payment of ${amount} is disputed at your bank. Its credit ` +
      "was taken from your balance, and calls are refused, until the dispute is decided.",
    withdraw: "If you did not mean to dispute it, ask your bank to withdraw the dispute.",
  },
  disputeDecided: {
    lostSubject: "A dispute was decided: its credit stays removed",
    wonSubject: "A dispute is over: your credit is back",
    overSubject: "A dispute is over",
    lost: (amount: string, taken: string) =>
      `The dispute of your payment of ${amount} was decided: the money goes back to you, and ` +
      `${taken} of credit stay removed. If more than what is left was spent, calls are refused ` +
      "until a top-up pays the difference.",
    won: (amount: string, restored: string) =>
      `The dispute of your payment of ${amount} is over. ${restored} of credit are back on your ` +
      "balance, and your account is no longer suspended for it.",
    over: (amount: string) =>
      `The dispute of your payment of ${amount} is over. The payment is refunded, so no credit ` +
      "comes back. Your account is no longer suspended for it.",
    planLostSubject: "A dispute was decided",
    planLost: (amount: string) =>
      `The dispute of your payment of ${amount} for a plan was decided: the money goes back to ` +
      "you.",
    planOver: (amount: string) =>
      `The dispute of your payment of ${amount} for a plan is over, and your account is no ` +
      "longer " +
      "suspended for it.",
  },
  lowBalance: {
    subject: (percent: number) => `Your balance is below ${percent} % of your last top-up`,
    paragraph: (paid: string) =>
      `${paid} of paid balance are left. Calls that cost more than what is left are ` +
      "refused, and nothing is charged for them.",
  },
  freeEnding: {
    subject: (day: string) => `Your free credit ends on ${day}`,
    paragraph: (left: string, day: string) =>
      `${left} of free credit are left, and end on ${day} (UTC). To go on after ` +
      "that, top up your balance.",
  },
  webhookDisabled: {
    subject: (host: string) => `Your webhook at ${host} was disabled`,
    why: {
      gone: "It answered 410 (Gone), which asks for no more events.",
      failing: "It took no event for 24 hours, in spite of many attempts.",
    },
    after:
      "No more events are sent to it until you enable it again. Events that it " +
      "did not take in the last 30 days can then be sent again.",
  },
  burnRate: {
    subject: (key: string) => `Your key "${key}" spends fast`,
    paragraph: (key: string, spent: string) =>
      `Your key "${key}" spent ${spent} within five minutes, which is more than a burn-rate rule ` +
      "lets pass.",
    alert: "Nothing was done to the key: its calls go on.",
    slow: (requests: number, until: string) =>
      `Until ${until} it may make ${requests} requests a minute.`,
    pause: (until: string) =>
      `It is paused until ${until}: calls that cost something are refused, and nothing is ` +
      "charged for them.",
    after: "You can end that earlier on the page of your limits.",
  },
};

export type MailTexts = typeof englishMails;
