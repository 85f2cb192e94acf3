// Defines the environment variables of payments.

import type { Variables } from "./environment.ts";
import { amount, anyText, flag, percentage, secretList, webAddress } from "./variable-kinds.ts";

/** The variables of top-ups. */
export const PAYMENT_VARIABLES = {
  STRIPE_SECRET_KEY: {
    kind: anyText,
    isSecret: true,
    about: "the key of the Stripe account; needs the next two",
  },
  STRIPE_WEBHOOK_SECRET: {
    kind: secretList,
    isSecret: true,
    about: "the secret that events are signed with; `new,old` while it is replaced",
  },
  STRIPE_RETURN_URL: {
    kind: webAddress,
    about: "where payers are sent from Stripe's page",
  },
  STRIPE_API_BASE: {
    kind: webAddress,
    shown: "Stripe itself",
    about: "where the API is, for tests",
  },
  STRIPE_AUTOMATIC_TAX: {
    kind: flag,
    default: "false",
    about: "whether Stripe Tax computes taxes and adds them to what is paid",
  },
  STRIPE_INVOICES: {
    kind: flag,
    default: "false",
    about: "whether pages ask for address and tax id, and each payment has an invoice of Stripe",
  },
  TOP_UP_FEE_PERCENT: {
    kind: percentage,
    default: "0",
    about: "a fee that is paid on top of each top-up, as a part of its credit",
  },
  TOP_UP_FEE_USD: {
    kind: amount,
    default: "0",
    about: "a fixed fee on top of each top-up, besides the percentage",
  },
  TOP_UP_BONUS_PERCENT: {
    kind: percentage,
    default: "0",
    about: "credit given on top of a holder's first top-up; needs the next one",
  },
  TOP_UP_BONUS_MAX_USD: {
    kind: amount,
    default: "0",
    about: "the most of that bonus",
  },
  PLAN_STARTER_USD: {
    kind: amount,
    shown: "none",
    about: "what the plan Starter costs a month; without it, an operator sets the plan",
  },
  PLAN_PRO_USD: {
    kind: amount,
    shown: "none",
    about: "what the plan Pro costs a month",
  },
  PLAN_MAX_USD: {
    kind: amount,
    shown: "none",
    about: "what the plan Max costs a month",
  },
} as const satisfies Variables;
