// Top-ups of an account: POST …/top-ups/checkout and …/top-ups/charge, GET …/top-ups/{topup}

import { accountPage } from "../../core/account-page.ts";
import { AdministrationError, ApiError } from "../../core/errors.ts";
import { nested, sampleOf, type WireOf } from "../../core/records.ts";
import { positiveAmountFrom } from "../../core/text/field-rules.ts";
import { readField } from "../../http/body/checks.ts";
import { jsonBody } from "../../http/body/json-body.ts";
import { type AccountContext, accountEndpoint } from "../../http/console/console-endpoint.ts";
import { replyWith } from "../../http/console/record-schema.ts";
import { ProviderAway } from "../../payments/provider.ts";
import { orderCharge, startCheckout } from "../../payments/top-ups.ts";
import { TopUp, topUpJson } from "../../readings/billing.ts";
import { type TopUp as TopUpRow, TopUps } from "../../store/payments/top-ups.ts";
import { type BillingDeps, cashierOf } from "./billing.ts";
import {
  ChargeBody,
  type ChargeFields,
  CheckoutBody,
  type CheckoutFields,
} from "./billing-schema.ts";

type BillingContext = AccountContext<BillingDeps>;

const PATH = "/console/api/accounts/{account}/top-ups";
const BODY_BYTES_MAX = 4 * 1_024;

/** The answer to a top-up that has started. `url` is the provider's page for paying it. */
const StartedTopUp = { top_up: nested(TopUp) };
export type StartedTopUpReply = WireOf<typeof StartedTopUp>;
const REQUEST = "0d9c7c1e-5f9b-4f43-9a1d-2f6f3a1a7a51";

export const checkout = accountEndpoint({
  id: "startCheckout",
  method: "POST",
  path: `${PATH}/checkout`,
  role: "billing",
  summary: "Make a page of the payment provider where a top-up is paid",
  description: `After paying, the person is sent back to the billing page of the account, with the
id of the top-up in \`top_up\`.`,
  body: jsonBody(CheckoutBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(StartedTopUp, { summary: "$25", body: { amount_usd: "25", save_card: true } }),
  async run(context: BillingContext, fields: CheckoutFields) {
    const { deps, account, request } = context;
    const amount = amountOf(fields);
    const cashier = cashierOf(context, "checkout_started", `$${fields.amount_usd}`);
    const home = deps.consoleUrl ?? request.headers.get("origin") ?? "";
    const order = {
      amount,
      savesCard: fields.save_card ?? false,
      ...(fields.request !== undefined && { request: fields.request }),
      returnUrl: (topUp: string) => billingPage(home, account.id, topUp),
    };
    try {
      return replyOf(await startCheckout(cashier, account, order));
    } catch (error) {
      if (!(error instanceof ProviderAway)) throw error;
      throw new ApiError(
        "service_unavailable",
        "The payment provider does not answer; nothing was charged. Try again",
        { retryAfterSeconds: 10, cause: error },
      );
    }
  },
});

export const charge = accountEndpoint({
  id: "chargeCard",
  method: "POST",
  path: `${PATH}/charge`,
  role: "billing",
  summary: "Charge a saved card now",
  description: `A repeat with the same \`request\` charges nothing and answers what has become of
the first. A top-up that is still \`open\` is decided soon; it can be asked for by its id.`,
  body: jsonBody(ChargeBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(StartedTopUp, {
    summary: "$25 by the newest card",
    body: { amount_usd: "25", request: REQUEST },
    reply: {
      top_up: {
        ...sampleOf(TopUp),
        kind: "card",
        status: "succeeded",
        url: null,
        ended_at: "2026-11-22T14:00:02.000Z",
      },
    },
  }),
  async run(context: BillingContext, fields: ChargeFields) {
    const { card = null, request } = fields;
    const order = { amount: amountOf(fields), cardId: card, request };
    const cashier = cashierOf(context, "card_charged", `$${fields.amount_usd}`);
    return replyOf(await orderCharge(cashier, context.account, order));
  },
});

export const topUp = accountEndpoint({
  id: "getTopUp",
  method: "GET",
  path: `${PATH}/{topup}`,
  role: "viewer",
  summary: "Show what became of a top-up",
  ...replyWith(StartedTopUp, { summary: "One that waits to be paid" }),
  async run({ deps, account, params }: BillingContext) {
    const id = params.topup ?? "";
    const found = await new TopUps(deps.administration.accounts.deps).find({ id });
    if (found?.account === account.number) return replyOf(found);
    throw new AdministrationError("not_found", `There is no top-up ${id}`);
  },
});

function amountOf({ amount_usd: text }: { readonly amount_usd: string }) {
  return readField("amount_usd", () => positiveAmountFrom(text));
}

function billingPage(home: string, account: string, topUpId: string): string {
  const url = accountPage(home, account, "billing");
  url.searchParams.set("top_up", topUpId);
  return url.href;
}

function replyOf(found: TopUpRow): StartedTopUpReply {
  return { top_up: topUpJson(found) };
}
