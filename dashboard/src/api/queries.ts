// One query for each endpoint of the console. A change names the queries that it outdates.

import { QueryClient, queryOptions } from "@tanstack/react-query";
import type { BurnAlarmsReply, BurnRulesReply } from "../../../src/console/burn-lists.ts";
import type { EndUsersReply } from "../../../src/console/end-users.ts";
import type { StartedTopUpReply } from "../../../src/console/money/top-ups.ts";
import type { MeReply } from "../../../src/console/people/me-schema.ts";
import type { RunReply, RunsReply } from "../../../src/console/run-lists.ts";
import type { ActivityReply } from "../../../src/readings/activity.ts";
import type { BillingReply, PaymentDocumentsReply } from "../../../src/readings/billing.ts";
import type { KeysReply } from "../../../src/readings/keys.ts";
import type { LedgerReply } from "../../../src/readings/ledger.ts";
import type { LimitsReply } from "../../../src/readings/limits.ts";
import type { ModelsReply } from "../../../src/readings/models.ts";
import type { PlanReply } from "../../../src/readings/offers/plan.ts";
import type { OverviewReply } from "../../../src/readings/overview.ts";
import type { ReceiptReply } from "../../../src/readings/receipt.ts";
import type { RequestsReply } from "../../../src/readings/requests.ts";
import type { IssuedReceiptReply } from "../../../src/readings/signed/issued-receipt.ts";
import type { StatementReply } from "../../../src/readings/signed/signed-statement.ts";
import type { TeamReply } from "../../../src/readings/team.ts";
import type { UsageReply } from "../../../src/readings/usage.ts";
import { IS_OPERATORS } from "../addresses.ts";
import { get, type Query, RequestError } from "./client.ts";

const FRESH_MS = 4_000;
const RENEW_MS = 15_000;
const RETRIES_MAX = 2;
const NOT_FOUND = 404;
const SERVER_FAULT = 500;
const LOG_MS = 500;
const LOG_TRIES_MAX = 5;

/** True where the server says that there is no such thing. */
export function isMissing(error: Error | null): boolean {
  return error instanceof RequestError && error.status === NOT_FOUND;
}

/** False for a refusal that trying again cannot change, and after some tries. */
function mayRetry(count: number, error: Error): boolean {
  const isFinal = error instanceof RequestError && error.status > 0 && error.status < SERVER_FAULT;
  return count < RETRIES_MAX && !isFinal;
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // By default a query without a network waits in silence, and old figures stand below new
      // filters.
      networkMode: "always",
      refetchOnReconnect: true,
      staleTime: FRESH_MS,
      retry: mayRetry,
    },
  },
});

const API = "/console/api";
export const OPERATOR_API = "/console/operator";

/** The address of an endpoint of an account. */
export function ofAccount(account: string, rest: string): string {
  const api = IS_OPERATORS ? OPERATOR_API : API;
  return `${api}/accounts/${encodeURIComponent(account)}/${rest}`;
}

export const ME = `${API}/me`;
export const ACCOUNTS = `${API}/accounts`;

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => get<MeReply>(ME, {}, signal),
  staleTime: 60_000,
});

export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: ({ signal }) => get<ModelsReply>(`${API}/models`, {}, signal),
  staleTime: 60_000,
});

interface QueryTerms {
  readonly query?: Query;
  /** False for data that only a change outdates. */
  readonly renew?: boolean;
}

/** A query about an account, renewed while its page is open. */
export function accountQuery<T>(
  account: string,
  name: string,
  { query = {}, renew = true }: QueryTerms = {},
) {
  return queryOptions({
    queryKey: [account, name, query],
    queryFn: ({ signal }) => get<T>(ofAccount(account, name), query, signal),
    ...(renew && { refetchInterval: RENEW_MS }),
  });
}

export const overviewQuery = (account: string) => accountQuery<OverviewReply>(account, "overview");

export const keysQuery = (account: string) => accountQuery<KeysReply>(account, "keys");

export const usageQuery = (account: string, query: Query) =>
  accountQuery<UsageReply>(account, "usage", { query });

export const requestsQuery = (account: string, query: Query) =>
  accountQuery<RequestsReply>(account, "requests", { query, renew: query.before === undefined });

export const statementQuery = (account: string, month: string) =>
  accountQuery<StatementReply>(account, "statement", { query: { month }, renew: false });

/** The signed receipt of a request, which never changes unless the call is corrected. */
export const issuedReceiptQuery = (account: string, request: string) =>
  accountQuery<IssuedReceiptReply>(account, `requests/${encodeURIComponent(request)}/receipt`, {
    renew: false,
  });

/** A call that has just ended comes into the log within a second: until then it is missing. */
export const receiptQuery = (account: string, id: string) => ({
  ...accountQuery<ReceiptReply>(account, `requests/${encodeURIComponent(id)}`, { renew: false }),
  retry: (count: number, error: Error) =>
    isMissing(error) ? count < LOG_TRIES_MAX : mayRetry(count, error),
  retryDelay: LOG_MS,
});

export const billingQuery = (account: string) => accountQuery<BillingReply>(account, "billing");

export const planQuery = (account: string) => accountQuery<PlanReply>(account, "plan");

export const documentsQuery = (account: string, payment: string) =>
  accountQuery<PaymentDocumentsReply>(
    account,
    `payments/${encodeURIComponent(payment)}/documents`,
    { renew: false },
  );

export const topUpQuery = (account: string, id: string) =>
  accountQuery<StartedTopUpReply>(account, `top-ups/${encodeURIComponent(id)}`, { renew: false });

export const ledgerQuery = (account: string, query: Query) =>
  accountQuery<LedgerReply>(account, "ledger", { query, renew: query.before === undefined });

export const limitsQuery = (account: string) => accountQuery<LimitsReply>(account, "limits");

export const runsQuery = (account: string, query: Query) =>
  accountQuery<RunsReply>(account, "runs", { query, renew: query.before === undefined });

export const runQuery = (account: string, run: string) =>
  accountQuery<RunReply>(account, `runs/${encodeURIComponent(run)}`);

export const endUsersQuery = (account: string) => accountQuery<EndUsersReply>(account, "end-users");

export const burnRulesQuery = (account: string) =>
  accountQuery<BurnRulesReply>(account, "burn-rules");

export const burnAlarmsQuery = (account: string, query: Query) =>
  accountQuery<BurnAlarmsReply>(account, "burn-alarms", { query });

export const teamQuery = (account: string) =>
  accountQuery<TeamReply>(account, "team", { renew: false });

export const activityQuery = (account: string, query: Query) =>
  accountQuery<ActivityReply>(account, "activity", { query, renew: false });

/** Outdates all queries of an account, after a change of the account. */
export async function outdateAccount(account: string): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: [account] });
}

/** Outdates the queries that show a balance, besides the one that has just read it. */
export async function outdateBalance(account: string): Promise<void> {
  await Promise.all(
    ["overview", "ledger"].map((name) =>
      queryClient.invalidateQueries({ queryKey: [account, name] }),
    ),
  );
}
