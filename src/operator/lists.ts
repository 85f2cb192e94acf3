// The lists of the operators' console.

import { queryOf } from "../http/console/console-endpoint.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import { replyWith } from "../http/console/record-schema.ts";
import { ACTIVITY } from "../readings/activity.ts";
import { CONTENT_REFUSALS } from "../readings/content-refusals.ts";
import { DISPUTES } from "../readings/disputes.ts";
import { EVENTS } from "../readings/events.ts";
import { FOUND_ACCOUNTS } from "../readings/found-accounts.ts";
import { GRANTS } from "../readings/grants.ts";
import { LEDGER } from "../readings/ledger.ts";
import { MAILS } from "../readings/mails.ts";
import { Rejected, rejectedReply } from "../readings/rejected.ts";
import { Revenue, RevenueQuery, revenueReply } from "../readings/revenue.ts";
import { TRAIL } from "../readings/trail.ts";
import { ACCOUNT_PATH, type Context, OPERATOR_PATH, sourceOf } from "./deps.ts";

const search = operatorEndpoint({
  id: "searchAccounts",
  path: `${OPERATOR_PATH}/accounts`,
  summary: "Find accounts, newest first",
  ...FOUND_ACCOUNTS.endpoint("By address", "text=ada@"),
  run: ({ deps }: Context, input) => FOUND_ACCOUNTS.page(deps.reading.database, input),
});

const ledger = operatorEndpoint({
  id: "listAccountLedger",
  path: `${ACCOUNT_PATH}/ledger`,
  summary: "List the ledger of an account, newest first",
  ...LEDGER.endpoint("All entries", "kind=all"),
  run: async (context: Context, input) => await LEDGER.page(await sourceOf(context), input),
});

const activity = operatorEndpoint({
  id: "listAccountActivity",
  path: `${ACCOUNT_PATH}/activity`,
  summary: "Who did what in the account, its people and operators",
  ...ACTIVITY.endpoint("A new key"),
  run: async (context: Context, input) => await ACTIVITY.page(await sourceOf(context), input),
});

const trail = operatorEndpoint({
  id: "listTrail",
  path: `${OPERATOR_PATH}/trail`,
  summary: "What operators did, newest first",
  ...TRAIL.endpoint("A credit"),
  run: ({ deps }: Context, input) => TRAIL.page(deps.administration.accounts, input),
});

const mails = operatorEndpoint({
  id: "listOutbox",
  path: `${OPERATOR_PATH}/mails`,
  summary: "List the service's own mails, newest first",
  ...MAILS.endpoint("Those that wait", "status=waiting"),
  run: ({ deps }: Context, input) => MAILS.page(deps.reading.database, input),
});

const events = operatorEndpoint({
  id: "listEvents",
  path: `${OPERATOR_PATH}/events`,
  summary: "List the events of payment providers, those received last first",
  ...EVENTS.endpoint("Not processed", "status=received"),
  run: ({ deps }: Context, input) => EVENTS.page(deps.reading.database, input),
});

const rejected = operatorEndpoint({
  id: "listRejected",
  method: "GET",
  path: `${OPERATOR_PATH}/rejected`,
  summary: "List journal entries that Postgres refused",
  ...replyWith(Rejected, { summary: "One entry" }),
  run: ({ deps }: Context) => rejectedReply(deps.reading.database),
});

const disputes = operatorEndpoint({
  id: "listDisputes",
  path: `${OPERATOR_PATH}/disputes`,
  summary: "List payments whose dispute is open, or that their provider warns of",
  ...DISPUTES.endpoint("Open ones"),
  run: ({ deps }: Context, input) => DISPUTES.page(deps.reading.database, input),
});

const refusals = operatorEndpoint({
  id: "listContentRefusals",
  path: `${OPERATOR_PATH}/refusals`,
  summary: "List accounts whose calls providers refused for their content in 30 days, most first",
  ...CONTENT_REFUSALS.endpoint("One account"),
  run: ({ deps }: Context, input) => CONTENT_REFUSALS.page(deps.reading.database, input),
});

const grants = operatorEndpoint({
  id: "listGrants",
  path: `${OPERATOR_PATH}/grants`,
  summary: "List grants of free credit, newest first",
  ...GRANTS.endpoint("By sign-up"),
  run: ({ deps }: Context, input) => GRANTS.page(deps.reading.database, input),
});

const revenue = operatorEndpoint({
  id: "getRevenue",
  method: "GET",
  path: `${OPERATOR_PATH}/revenue`,
  summary: "Show what was charged by day and service, model or route, what that cost, and payments",
  query: queryOf(RevenueQuery),
  ...replyWith(Revenue, { summary: "Two days", query: "from=2026-11-21&to=2026-11-22" }),
  run: ({ deps }: Context, input) => revenueReply(deps.reading.database, input),
});

export const OPERATOR_LISTS = [
  search,
  ledger,
  activity,
  trail,
  mails,
  events,
  rejected,
  disputes,
  refusals,
  grants,
  revenue,
] as const;
