// What operators do to an account. Each goes through the use case that the command line uses.

import { type AccountAction, changeAccount, grantFree } from "../accounts/administration.ts";
import { closeAccount } from "../accounts/closing.ts";
import { adjustBalance, forgiveOwed, recordPayment, refundPayment } from "../accounts/payments.ts";
import { readField } from "../console/read-fields.ts";
import { CONTRACTS, PLAN_NAMES } from "../core/access/limits.ts";
import { AdministrationError } from "../core/errors.ts";
import { dollars } from "../core/journal/audit-finding.ts";
import { type NanoUsd, subtract, usd, ZERO } from "../core/money/money.ts";
import { positiveAmountFrom } from "../core/text/field-rules.ts";
import { usd as usdSchema } from "../http/console/fields.ts";
import { oneOf, optional, text } from "../http/schema.ts";
import { refundTopUp } from "../payments/refund.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import { MANUAL, type Payment } from "../store/payments/payments.ts";
import { type Ask, actOnce, actOutside, type Deed } from "./act.ts";
import { type ActInput, type ActionReply, accountAct } from "./act-endpoint.ts";
import type { Context } from "./deps.ts";

/** The part of the reference of an operation that says where it comes from. */
const REFERENCE = "console:";

const AMOUNT = { amount_usd: usdSchema("The amount") };

function deedOn({ number }: AccountRow, action: string, about: string): Deed {
  return { action, account: number, subject: null, about };
}

const credit = accountAct({
  id: "creditAccount",
  name: "credit",
  summary: "Record a payment that came in another way, and credit it; it counts for the tier",
  fields: AMOUNT,
  example: { amount_usd: "25" },
  run(context, account, input) {
    const amount = readField("amount_usd", () => positiveAmountFrom(input.amount_usd));
    const deed = deedOn(account, "credit", `${dollars(amount)} credited as a payment`);
    return actOnce(context, deed, input, (also) => {
      const { administration } = context.deps;
      const paidAt = new Date(administration.now());
      const payment = { amount, paidAt, isPaidNow: true, ref: `${REFERENCE}${input.id}` };
      return recordPayment({ ...administration, also }, account.id, payment);
    });
  },
});

const adjust = accountAct({
  id: "adjustAccount",
  name: "adjust",
  summary: "Add to the paid balance, or take from it what is there; it counts for no tier",
  fields: AMOUNT,
  example: { amount_usd: "-1.5" },
  run(context, account, input) {
    const amount = readField("amount_usd", () => signedAmount(input.amount_usd));
    const words =
      amount > ZERO
        ? `${dollars(amount)} added to the paid balance`
        : `up to ${dollars(subtract(ZERO, amount))} taken from the paid balance`;
    return actOnce(context, deedOn(account, "adjust", words), input, (also) =>
      adjustBalance({ ...context.deps.administration, also }, account.id, {
        amount,
        reason: input.reason,
        reference: `${REFERENCE}${input.id}`,
      }),
    );
  },
});

function signedAmount(text: string): NanoUsd {
  const amount = usd(text);
  if (amount !== ZERO) return amount;
  throw new RangeError("must not be zero");
}

const forgive = accountAct({
  id: "forgiveOwed",
  name: "forgive",
  summary: "Forgive up to an amount of what the account owes for reversed payments",
  fields: AMOUNT,
  example: { amount_usd: "3" },
  run(context, account, input) {
    const amount = readField("amount_usd", () => positiveAmountFrom(input.amount_usd));
    const deed = deedOn(account, "forgive", `up to ${dollars(amount)} of what is owed forgiven`);
    return actOnce(context, deed, input, (also) =>
      forgiveOwed({ ...context.deps.administration, also }, account.id, {
        amount,
        reason: input.reason,
        reference: `${REFERENCE}${input.id}`,
      }),
    );
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
      ...deedOn(account, "refund", `${words} of ${payment.id} refunded`),
      subject: payment.id,
    };
    if (payment.provider !== MANUAL) return await refundAtProvider(context, payment, deed, input);
    const reference = `${REFERENCE}${input.id}`;
    return await actOnce(context, deed, input, (also) =>
      refundPayment({ ...administration, also }, payment.id, { amount, reference }),
    );
  },
});

/** The provider refunds once for each id; what it says of the payment then takes the credit. */
async function refundAtProvider(
  context: Context,
  payment: Payment,
  deed: Deed,
  input: ActInput<typeof REFUND>,
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
  const amount = input.amount_usd == null ? null : positiveAmountFrom(input.amount_usd);
  return await actOutside(context, deed, input, async () => {
    const { concern } = await refundTopUp(cashier, topUp.id, { amount, reference: input.id });
    return `The provider says: ${concern ?? "nothing is refunded yet"}`;
  });
}

function noPayment({ id }: AccountRow, payment: string): AdministrationError {
  return new AdministrationError("not_found", `The account ${id} has no payment ${payment}`);
}

const DONE = { suspend: "suspended", resume: "resumed" } as const;

const suspend = stateAction("suspend", "Suspend the account: every call is refused, the keys stay");
const resume = stateAction("resume", "Resume an account that an operator suspended");

function stateAction(kind: keyof typeof DONE, summary: string) {
  return accountAct({
    id: `${kind}Account`,
    name: kind,
    summary,
    fields: {},
    run: (context, account, input) => changeOnce(context, account, input, DONE[kind], { kind }),
  });
}

/** Changes what the account is, once; the trail names the kind of the change. */
function changeOnce(
  context: Context,
  account: AccountRow,
  input: Ask,
  about: string,
  change: AccountAction,
): Promise<ActionReply> {
  return actOnce(context, deedOn(account, change.kind, about), input, (also) =>
    changeAccount({ ...context.deps.administration, also }, account.id, change),
  );
}

const close = accountAct({
  id: "closeAccountForGood",
  name: "close",
  summary: "Close the account permanently, and revoke its keys",
  fields: {},
  run: (context, account, input) =>
    actOnce(context, deedOn(account, "close", "closed permanently"), input, (also) => {
      const { administration, wallets } = context.deps;
      return closeAccount({ ...administration, wallets, also }, account.id);
    }),
});

const grant = accountAct({
  id: "grantFreeCredit",
  name: "grant-free",
  summary: "Give a Gateway account the free credit that it did not get by signing up",
  fields: {},
  run: (context, account, input) =>
    actOnce(context, deedOn(account, "grant_free", "free credit granted"), input, (also) =>
      grantFree({ ...context.deps.administration, also }, account.id),
    ),
});

const plan = accountAct({
  id: "setPlan",
  name: "plan",
  summary: "Set the plan of an application account",
  fields: { plan: oneOf(PLAN_NAMES) },
  example: { plan: "pro" },
  run: (context, account, input) =>
    changeOnce(context, account, input, `plan ${input.plan}`, { kind: "plan", plan: input.plan }),
});

const contract = accountAct({
  id: "setContract",
  name: "contract",
  summary: "Give a Gateway account the Enterprise contract, or take it away",
  fields: { contract: oneOf(CONTRACTS) },
  example: { contract: "enterprise" },
  run: (context, account, input) =>
    changeOnce(context, account, input, `contract ${input.contract}`, {
      kind: "contract",
      contract: input.contract === "none" ? null : input.contract,
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
