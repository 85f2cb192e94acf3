// Defines the endpoints at which operators read the problems of an account: keys that spend fast,
// and webhooks that do not take their events.

import { BURN_ALARMS, BurnRules, burnRulesReply } from "../console/burn-lists.ts";
import { DELIVERIES } from "../console/webhook-lists.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import { replyWith } from "../http/console/record-schema.ts";
import { AccountWebhooks, accountWebhooksReply } from "./account-webhooks.ts";
import { ACCOUNT_PATH, accountOf, type Context, sourceOf } from "./deps.ts";

const burnRules = operatorEndpoint({
  id: "listAccountBurnRules",
  method: "GET",
  path: `${ACCOUNT_PATH}/burn-rules`,
  summary: "List the burn-rate rules of an account, and the keys that any rules slow or pause now",
  ...replyWith(BurnRules, { summary: "One rule" }),
  run: async (context: Context) =>
    await burnRulesReply(context.deps.administration, await accountOf(context)),
});

const burnAlarms = operatorEndpoint({
  id: "listAccountBurnAlarms",
  path: `${ACCOUNT_PATH}/burn-alarms`,
  summary: "List the keys of an account that burn-rate rules found to spend fast, newest first",
  description: "Alarms are kept for 90 days.",
  ...BURN_ALARMS.endpoint("One alarm"),
  async run(context: Context, input) {
    const { database } = context.deps.reading;
    return await BURN_ALARMS.page({ database, account: await accountOf(context) }, input);
  },
});

const webhooks = operatorEndpoint({
  id: "listAccountWebhooks",
  method: "GET",
  path: `${ACCOUNT_PATH}/webhooks`,
  summary: "List the webhooks of an account with what waits and what failed in 24 hours",
  ...replyWith(AccountWebhooks, { summary: "One webhook" }),
  run: async (context: Context) =>
    await accountWebhooksReply(context.deps.reading.database, await accountOf(context)),
});

const deliveries = operatorEndpoint({
  id: "listAccountDeliveries",
  path: `${ACCOUNT_PATH}/webhooks/deliveries`,
  summary: "List what was sent to the webhooks of an account, newest first",
  description: "Deliveries that ended are kept for 30 days.",
  ...DELIVERIES.endpoint("Failed ones", "status=failed"),
  run: async (context: Context, input) => await DELIVERIES.page(await sourceOf(context), input),
});

export const WATCH_ENDPOINTS = [burnRules, burnAlarms, webhooks, deliveries] as const;
