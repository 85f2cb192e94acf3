// The plan of an application account: GET …/plan, POST …/plan/order and …/plan/cancel

import { PLAN_CONSENT_VERSION } from "../../core/money/consent.ts";
import { PLAN_BEGINS, PRICED_PLANS, planTitle } from "../../core/money/plan-terms.ts";
import { nested, nullable, type WireOf } from "../../core/records.ts";
import { amountFrom } from "../../core/text/field-rules.ts";
import { readField } from "../../http/body/checks.ts";
import { jsonBody } from "../../http/body/json-body.ts";
import { type AccountContext, accountEndpoint } from "../../http/console/console-endpoint.ts";
import { usdSchema } from "../../http/console/fields.ts";
import { replyWith } from "../../http/console/record-schema.ts";
import { type Checked, oneOf, optional, Type, text } from "../../http/schema.ts";
import { cancelPlan, orderPlan } from "../../payments/plans.ts";
import { TopUp, topUpJson } from "../../readings/billing.ts";
import { Plan, planReply } from "../../readings/offers/plan.ts";
import { noted } from "../noted.ts";
import { type BillingDeps, cashierOf } from "./billing.ts";
import { checkConsent, RequestId } from "./billing-schema.ts";

type BillingContext = AccountContext<BillingDeps>;

const PATH = "/console/api/accounts/{account}/plan";
const BODY_BYTES_MAX = 4 * 1_024;

const OrderBody = Type.Object(
  {
    plan: oneOf(PRICED_PLANS),
    card: optional(
      text({
        description:
          "The id of the saved card that is charged now and each month; if missing, the newest " +
          "for a charge, and the plan's own for a change that charges nothing",
      }),
    ),
    price_usd: usdSchema("The price of a month that the person agreed to"),
    charged_now_usd: usdSchema("The amount charged now that the person agreed to"),
    begins: oneOf(PLAN_BEGINS, { description: "When the plan takes effect, as the person agreed" }),
    request: RequestId,
    consent_version: text({ description: "The version of the text that the person agreed to" }),
  },
  { additionalProperties: false },
);
export type PlanOrderFields = Checked<typeof OrderBody>;

/** The plan after an order, and its charge; null if nothing was charged. */
const OrderedPlan = { ...Plan, charge: nullable(nested(TopUp)) };
export type OrderedPlanReply = WireOf<typeof OrderedPlan>;

export const getPlan = accountEndpoint({
  id: "getPlan",
  method: "GET",
  path: PATH,
  role: "viewer",
  summary: "Show the plan of an application account, and what the others contain and cost",
  ...replyWith(Plan, { summary: "A plan that is paid by the month" }),
  run: ({ deps, account }: BillingContext) => planReply(deps, account),
});

export const orderConsolePlan = accountEndpoint({
  id: "orderPlan",
  method: "POST",
  path: `${PATH}/order`,
  role: "billing",
  summary: "Buy a plan by saved card, or change to another one",
  description: `A higher plan begins now, a lower one after the paid month. An order of the present
plan takes a cancellation back. A repeat with the same \`request\` charges nothing. The person
agrees to the text whose version they give: that the card is charged each month. They also agree to
what \`plans\` of the plan says of an order: if it would cost more now or each month, or begin at
another time, nothing is charged and the answer is \`price_changed\`.`,
  body: jsonBody(OrderBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(OrderedPlan, {
    summary: "A higher plan",
    body: {
      plan: "pro",
      price_usd: "20",
      charged_now_usd: "12.9",
      begins: "now",
      request: "0d9c7c1e-5f9b-4f43-9a1d-2f6f3a1a7a51",
      consent_version: PLAN_CONSENT_VERSION,
    },
  }),
  async run(context: BillingContext, fields: PlanOrderFields) {
    const { deps, account } = context;
    const { plan, card = null, request, begins } = fields;
    checkConsent(fields, PLAN_CONSENT_VERSION);
    const agreed = {
      price: readField("price_usd", () => amountFrom(fields.price_usd)),
      chargedNow: readField("charged_now_usd", () => amountFrom(fields.charged_now_usd)),
      begins,
    };
    const cashier = cashierOf(context, "plan_ordered", planTitle(plan));
    const { topUp } = await orderPlan(cashier, account, { plan, cardId: card, request, agreed });
    const charge = topUp === null ? null : topUpJson(topUp);
    return { ...(await planReply(deps, account)), charge };
  },
});

export const cancelConsolePlan = accountEndpoint({
  id: "cancelPlan",
  method: "POST",
  path: `${PATH}/cancel`,
  role: "billing",
  summary: "End a plan with its paid month; in the days of grace, now",
  description: "Possible also while nothing can be paid here.",
  ...replyWith(Plan, { summary: "It ends with the month", reply: { next_plan: "free" } }),
  async run(context: BillingContext) {
    const { deps, account } = context;
    await cancelPlan({ ...deps.planEnds, also: noted(context, "plan_canceled", "") }, account);
    return await planReply(deps, account);
  },
});
