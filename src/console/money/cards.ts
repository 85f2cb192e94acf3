// Saved cards and the automatic top-up: POST …/cards/{card}/remove, …/auto-top-up and
// …/auto-top-up/disable

import { ApiError } from "../../core/errors.ts";
import { CONSENT_VERSION } from "../../core/money/consent.ts";
import { amountFrom, positiveAmountFrom } from "../../core/text/field-rules.ts";
import { readField } from "../../http/body/checks.ts";
import { jsonBody } from "../../http/body/json-body.ts";
import { type AccountContext, accountEndpoint } from "../../http/console/console-endpoint.ts";
import { replyWith } from "../../http/console/record-schema.ts";
import { disableAuto, enableAuto } from "../../payments/auto-settings.ts";
import { removeOwnCard } from "../../payments/cards.ts";
import { ProviderAway } from "../../payments/provider.ts";
import { AutoTopUp, autoJson, Cards, cardsOf } from "../../readings/billing.ts";
import { alsoNoted } from "../noted.ts";
import { type BillingDeps, cashierOf } from "./billing.ts";
import { AutoBody, type AutoFields, checkConsent } from "./billing-schema.ts";

type BillingContext = AccountContext<BillingDeps>;

const PATH = "/console/api/accounts/{account}";
const BODY_BYTES_MAX = 4 * 1_024;

export const removeCard = accountEndpoint({
  id: "removeCard",
  method: "POST",
  path: `${PATH}/cards/{card}/remove`,
  role: "billing",
  summary: "Remove a saved card, here and at the payment provider",
  description: "An automatic top-up by this card is paused.",
  ...replyWith(Cards, { summary: "The last one", reply: { cards: [], auto: null } }),
  async run(context: BillingContext) {
    const { account, params } = context;
    const id = params.card ?? "";
    // The provider has removed the card already, so a failure to write the line must not undo the
    // rest.
    const also = alsoNoted(context, "card_removed", id);
    const cashier = { ...cashierOf(context, "card_removed", id), also };
    try {
      await removeOwnCard(cashier, account, id);
    } catch (error) {
      if (!(error instanceof ProviderAway)) throw error;
      throw new ApiError(
        "service_unavailable",
        "The payment provider does not answer; the card was not removed. Try again",
        { retryAfterSeconds: 10, cause: error },
      );
    }
    return await cardsOf(cashier, account);
  },
});

export const enableAutoTopUp = accountEndpoint({
  id: "enableAutoTopUp",
  method: "POST",
  path: `${PATH}/auto-top-up`,
  role: "billing",
  summary: "Set up the automatic top-up, or change and resume it",
  description: `The person agrees to the text whose version they give: that the card is charged
without their being asked again.`,
  body: jsonBody(AutoBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(AutoTopUp, {
    summary: "$25 below $10, at most $100 a month",
    body: {
      amount_usd: "25",
      threshold_usd: "10",
      monthly_cap_usd: "100",
      consent_version: CONSENT_VERSION,
    },
  }),
  async run(context: BillingContext, fields: AutoFields) {
    const settings = {
      amount: readField("amount_usd", () => positiveAmountFrom(fields.amount_usd)),
      threshold: readField("threshold_usd", () => amountFrom(fields.threshold_usd)),
      monthlyCap: readField("monthly_cap_usd", () => positiveAmountFrom(fields.monthly_cap_usd)),
      cardId: fields.card ?? null,
    };
    checkConsent(fields, CONSENT_VERSION);
    const { amount_usd: amount, threshold_usd: threshold } = fields;
    const about = `$${amount} below $${threshold}, at most $${fields.monthly_cap_usd} a month`;
    const cashier = cashierOf(context, "auto_top_up_enabled", about);
    const auto = await enableAuto(cashier, context.account, settings);
    return { auto: autoJson(auto) };
  },
});

export const disableAutoTopUp = accountEndpoint({
  id: "disableAutoTopUp",
  method: "POST",
  path: `${PATH}/auto-top-up/disable`,
  role: "billing",
  summary: "End the automatic top-up",
  description: "One that is under way still counts.",
  ...replyWith(AutoTopUp, { summary: "It has ended", reply: { auto: null } }),
  async run(context: BillingContext) {
    const cashier = cashierOf(context, "auto_top_up_disabled", "");
    await disableAuto(cashier, context.account);
    return { auto: null };
  },
});
