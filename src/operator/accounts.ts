// Accounts for operators: found by whatever somebody names, and read as their people read them.

import { readAccountSummary } from "../accounts/account-summary.ts";
import { keysReply } from "../console/keys.ts";
import { KEYS_EXAMPLE, Keys } from "../console/keys-schema.ts";
import { billingReply } from "../console/money/billing.ts";
import { BILLING_EXAMPLE, Billing } from "../console/money/billing-schema.ts";
import { teamReply } from "../console/people/team.ts";
import { overviewReply } from "../console/usage/overview.ts";
import { receiptReply } from "../console/usage/receipt.ts";
import { requestsReply } from "../console/usage/requests.ts";
import {
  RECEIPT_EXAMPLE,
  REQUESTS_EXAMPLE,
  Receipt,
  Requests,
  RequestsQuery,
} from "../console/usage/requests-schema.ts";
import { queryOf } from "../http/console/console-endpoint.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import { timeText } from "../readings/reading.ts";
import {
  OPERATOR_ACCOUNT_EXAMPLE,
  OperatorAccount,
  type OperatorAccountReply,
} from "./accounts-schema.ts";
import { ACCOUNT_PATH, accountOf, type Context } from "./deps.ts";

const account = operatorEndpoint({
  id: "getOperatorAccount",
  method: "GET",
  path: ACCOUNT_PATH,
  summary: "Show an account: balances, holds, tier, people",
  reply: OperatorAccount,
  examples: [{ summary: "An account", reply: OPERATOR_ACCOUNT_EXAMPLE }],
  async run(context: Context) {
    const { deps, person } = context;
    const row = await accountOf(context);
    const { openCalls, openStreams } = await readAccountSummary(deps.wallets, row);
    const reader = { now: new Date(deps.clock.now()), personId: person.personId };
    return {
      id: row.id,
      name: row.name,
      email: row.email,
      surface: row.surface,
      plan: row.plan,
      contract: row.contract,
      mail_domain: row.mailDomain,
      created_at: timeText(row.createdAt),
      open_calls: openCalls,
      open_streams: openStreams,
      overview: await overviewReply(deps, row),
      people: await teamReply(deps.reading.database, row, reader),
    } satisfies OperatorAccountReply;
  },
});

const billing = operatorEndpoint({
  id: "getAccountBilling",
  method: "GET",
  path: `${ACCOUNT_PATH}/billing`,
  summary: "Show payments, top-ups and cards of an account",
  reply: Billing,
  examples: [{ summary: "An account with a card", reply: BILLING_EXAMPLE }],
  run: async (context: Context) => await billingReply(context.deps, await accountOf(context)),
});

const keys = operatorEndpoint({
  id: "listAccountKeys",
  method: "GET",
  path: `${ACCOUNT_PATH}/keys`,
  summary: "List the keys of an account",
  reply: Keys,
  examples: [{ summary: "One key", reply: KEYS_EXAMPLE }],
  run: async (context: Context) => await keysReply(context.deps, await accountOf(context)),
});

const requests = operatorEndpoint({
  id: "listAccountRequests",
  method: "GET",
  path: `${ACCOUNT_PATH}/requests`,
  summary: "List the request log of an account, newest first",
  query: queryOf(RequestsQuery),
  reply: Requests,
  examples: [{ summary: "The newest", query: "limit=1", reply: REQUESTS_EXAMPLE }],
  run: async (context: Context, input) =>
    await requestsReply(context.deps.reading, await accountOf(context), input),
});

const receipt = operatorEndpoint({
  id: "getAccountRequest",
  method: "GET",
  path: `${ACCOUNT_PATH}/requests/{request}`,
  summary: "Show one request of an account as a receipt",
  reply: Receipt,
  examples: [{ summary: "A chat", reply: RECEIPT_EXAMPLE }],
  async run(context: Context) {
    const { deps, params } = context;
    const row = await accountOf(context);
    return await receiptReply(deps.reading, deps.catalogue, row, params.request ?? "");
  },
});

export const ACCOUNT_READINGS = [account, billing, keys, requests, receipt] as const;
