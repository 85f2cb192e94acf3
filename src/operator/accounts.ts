// Accounts for operators: found by whatever somebody names, and read as their people read them.

import { readAccountSummary } from "../accounts/account-summary.ts";
import { keysReply } from "../console/keys.ts";
import { KEYS_EXAMPLE, Keys } from "../console/keys-schema.ts";
import { billingReply } from "../console/money/billing.ts";
import {
  BILLING_EXAMPLE,
  Billing,
  LEDGER_EXAMPLE,
  LedgerPage,
  LedgerQuery,
} from "../console/money/billing-schema.ts";
import { ledgerReply } from "../console/money/ledger.ts";
import { activityReply, teamReply } from "../console/people/team.ts";
import { ACTIVITY_EXAMPLE, Activity, ActivityQuery } from "../console/people/team-schema.ts";
import { timeText, usdText } from "../console/reading.ts";
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
import type { Checked } from "../http/schema.ts";
import { searchAccounts } from "../store/accounts/account-search.ts";
import type { Database } from "../store/servers/database.ts";
import {
  FOUND_EXAMPLE,
  FoundAccounts,
  type FoundAccountsReply,
  OPERATOR_ACCOUNT_EXAMPLE,
  OperatorAccount,
  type OperatorAccountReply,
  SearchQuery,
} from "./accounts-schema.ts";
import {
  ACCOUNT_PATH,
  accountOf,
  type Context,
  OPERATOR_PATH,
  pageOf,
  placeOf,
  ROWS_PER_PAGE,
} from "./deps.ts";

const search = operatorEndpoint({
  id: "searchAccounts",
  method: "GET",
  path: `${OPERATOR_PATH}/accounts`,
  summary: "Find accounts, newest first",
  query: queryOf(SearchQuery),
  reply: FoundAccounts,
  examples: [{ summary: "By address", query: "text=ada@", reply: FOUND_EXAMPLE }],
  run: ({ deps }: Context, input) => foundAccounts(deps.reading.database, input),
});

/** Finds accounts. @throws ApiError that names the field at fault */
export async function foundAccounts(
  database: Database,
  { text, before }: Checked<typeof SearchQuery>,
): Promise<FoundAccountsReply> {
  const wanted = text?.trim() ?? "";
  const { rows, next } = pageOf(
    await searchAccounts(database, {
      text: wanted === "" ? null : wanted,
      before: placeOf(before),
      count: ROWS_PER_PAGE + 1,
    }),
  );
  return {
    accounts: rows.map(({ id, name, email, surface, state, stateReason, ...row }) => ({
      id,
      name,
      email,
      surface,
      state,
      state_reason: stateReason,
      paid_usd: usdText(row.paid),
      free_usd: usdText(row.free),
      owed_usd: usdText(row.owed),
      created_at: timeText(row.createdAt),
    })),
    next,
  };
}

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

const ledger = operatorEndpoint({
  id: "listAccountLedger",
  method: "GET",
  path: `${ACCOUNT_PATH}/ledger`,
  summary: "List the ledger of an account, newest first",
  query: queryOf(LedgerQuery),
  reply: LedgerPage,
  examples: [{ summary: "All entries", query: "kind=all", reply: LEDGER_EXAMPLE }],
  run: async (context: Context, input) =>
    await ledgerReply(context.deps.reading, await accountOf(context), input),
});

const activity = operatorEndpoint({
  id: "listAccountActivity",
  method: "GET",
  path: `${ACCOUNT_PATH}/activity`,
  summary: "Who did what in the account, its people and operators",
  query: queryOf(ActivityQuery),
  reply: Activity,
  examples: [{ summary: "A new key", reply: ACTIVITY_EXAMPLE }],
  run: async (context: Context, { before }) =>
    await activityReply(context.deps.reading.database, await accountOf(context), before),
});

export const ACCOUNT_READINGS = [
  search,
  account,
  billing,
  keys,
  requests,
  receipt,
  ledger,
  activity,
] as const;
