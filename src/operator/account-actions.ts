// Changes of an account by operators. Each calls the use case that the command line calls too.

import {
  type AccountAction,
  type AdministrationDeps,
  changeAccount,
  grantFree,
} from "../accounts/administration.ts";
import { closeAccount } from "../accounts/closing.ts";
import { adjustBalance, forgiveOwed, recordPayment, refundPayment } from "../accounts/payments.ts";
import { CONTRACTS, PLAN_NAMES } from "../core/access/limits.ts";
import { AdministrationError } from "../core/errors.ts";
import { dollars, type NanoUsd, subtract, usd, ZERO } from "../core/money/money.ts";
import { positiveAmountFrom } from "../core/text/field-rules.ts";
import { readField } from "../http/body/checks.ts";
import { usdSchema } from "../http/console/fields.ts";
import { oneOf, optional, text } from "../http/schema.ts";
import { refundTopUp } from "../payments/refund.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import { MANUAL, type Payment } from "../store/payments/payments.ts";
import { type ActionReply, actOnce, actOutside, type Deed } from "./act.ts";
import { accountAct, accountChange } from "./act-endpoint.ts";
import type { Context } from "./deps.ts";

const AMOUNT = { amount_usd: usdSchema("The amount") };

/** The reference of the operation names the operator's act. */
function referenceOf({ id }: { readonly id: string }): string {
  return `console:${id}`;
}

function positive({ amount_usd: text }: { readonly amount_usd: string }): NanoUsd {
  return readField("amount_usd", () => positiveAmountFrom(text));
}

const credit = accountChange({
  id: "creditAccount",
  name: "credit",
  summary: "Record a payment that came in another way, and credit it; it counts for the tier",
  fields: AMOUNT,
  example: { amount_usd: "25" },
  read(input, { administration: { now } }) {
    const amount = positive(input);
    const payment = { amount, paidAt: new Date(now()), isPaidNow: true, ref: referenceOf(input) };
    return {
      about: `${dollars(amount)} credited as a payment`,
      make: (deps, id) => recordPayment(deps, id, payment),
    };
  },
});

const adjust = accountChange({
  id: "adjustAccount",
  name: "adjust",
  summary: "Add to the paid balance, or take from it what is there; it counts for no tier",
  fields: AMOUNT,
  example: { amount_usd: "-1.5" },
  read(input) {
    const amount = readField("amount_usd", () => signedAmount(input.amount_usd));
    const terms = { amount, reason: input.reason, reference: referenceOf(input) };
    return {
      about:
        amount > ZERO
          ? `${dollars(amount)} added to the paid balance`
          : `up to ${dollars(subtract(ZERO, amount))} taken from the paid balance`,
      make: (deps, id) => adjustBalance(deps, id, terms),
    };
  },
});

function signedAmount(text: string): NanoUsd {
  const amount = usd(text);
  if (amount !== ZERO) return amount;
  throw new RangeError("must not be zero");
}

const forgive = accountChange({
  id: "forgiveOwed",
  name: "forgive",
  summary: "Forgive up to an amount of what the account owes for reversed payments",
  fields: AMOUNT,
  example: { amount_usd: "3" },
  read(input) {
    const amount = positive(input);
    const terms = { amount, reason: input.reason, reference: referenceOf(input) };
    return {
      about: `up to ${dollars(amount)} of what is owed forgiven`,
      make: (deps, id) => forgiveOwed(deps, id, terms),
    };
  },
});

const REFUND = {
  payment: text({ description: "The id of a payment of this account" }),
  amount_usd: optional(usdSchema("How much; all that is left if missing")),
};

const refund = accountAct({
  id: "refundPayment",
  name: "refund",
  summary: "Refund a payment, or a part of it; its credit is taken back",
  fields: REFUND,
  example: { payment: "pay_7n42DGM5Tflk9n8mt7Fhc7", amount_usd: "5" },
  async run(context, account, input) {
    const { amount_usd: given } = input;
    const amount = given == null ? null : readField("amount_usd", () => positiveAmountFrom(given));
    const { administration } = context.deps;
    const payments = await administration.payments.list(account);
    const payment = payments.find(({ id }) => id === input.payment);
    if (payment === undefined) throw noPayment(account, input.payment);
    const words = amount === null ? "all that is left" : dollars(amount);
    const deed = {
      ask: input,
      action: "refund",
      account: account.number,
      subject: payment.id,
      about: `${words} of ${payment.id} refunded`,
    };
    if (payment.provider !== MANUAL) {
      return await refundAtProvider(context, deed, { payment, amount });
    }
    const reference = referenceOf(input);
    return await actOnce(context, deed, (also) =>
      refundPayment({ ...administration, also }, payment.id, { amount, reference }),
    );
  },
});

/**
 * Refunds at the provider, which does so once for each id. The provider's report of the payment
 * then takes the credit back.
 */
async function refundAtProvider(
  context: Context,
  deed: Deed,
  { payment, amount }: { readonly payment: Payment; readonly amount: NanoUsd | null },
): Promise<ActionReply> {
  const { cashier } = context.deps;
  if (cashier === null) {
    throw new AdministrationError(
      "no_payment_provider",
      `The payment ${payment.id} is one of ${payment.provider}, which is not configured`,
    );
  }
  const topUps = await cashier.topUps.list(payment.account);
  const topUp = topUps.find(({ payment: number }) => number === payment.number);
  if (topUp === undefined) {
    throw new AdministrationError("not_found", `The payment ${payment.id} has no top-up`);
  }
  return await actOutside(context, deed, async () => {
    const { concern } = await refundTopUp(cashier, topUp.id, { amount, reference: deed.ask.id });
    return `The provider says: ${concern ?? "nothing is refunded yet"}`;
  });
}

function noPayment({ id }: AccountRow, payment: string): AdministrationError {
  return new AdministrationError("not_found", `The account ${id} has no payment ${payment}`);
}

const suspend = accountChange({
  id: "suspendAccount",
  name: "suspend",
  summary: "Suspend the account: every call is refused, the keys stay",
  fields: {},
  read: () => ({ about: "suspended", make: changeTo({ kind: "suspend" }) }),
});

const resume = accountChange({
  id: "resumeAccount",
  name: "resume",
  summary: "Resume an account that an operator suspended",
  fields: {},
  read: () => ({ about: "resumed", make: changeTo({ kind: "resume" }) }),
});

function changeTo(change: AccountAction) {
  return (deps: AdministrationDeps, id: string) => changeAccount(deps, id, change);
}

const close = accountChange({
  id: "closeAccountForGood",
  name: "close",
  summary: "Close the account permanently, and revoke its keys",
  fields: {},
  read: () => ({ about: "closed permanently", make: closeAccount }),
});

const grant = accountChange({
  id: "grantFreeCredit",
  name: "grant-free",
  summary: "Give a Gateway account the free credit that it did not get by signing up",
  fields: {},
  read: () => ({ about: "free credit granted", make: grantFree }),
});

const plan = accountChange({
  id: "setPlan",
  name: "plan",
  summary: "Set the plan of an application account",
  fields: { plan: oneOf(PLAN_NAMES) },
  example: { plan: "pro" },
  read: ({ plan: name }) => ({
    about: `plan ${name}`,
    make: changeTo({ kind: "plan", plan: name }),
  }),
});

const contract = accountChange({
  id: "setContract",
  name: "contract",
  summary: "Give a Gateway account the Enterprise contract, or take it away",
  fields: { contract: oneOf(CONTRACTS) },
  example: { contract: "enterprise" },
  read: ({ contract: name }) => ({
    about: `contract ${name}`,
    make: changeTo({ kind: "contract", contract: name === "none" ? null : name }),
  }),
});

export const ACCOUNT_ACTIONS = [
  credit,
  adjust,
  forgive,
  refund,
  suspend,
  resume,
  close,
  grant,
  plan,
  contract,
] as const;
