// Queries of the operators' pages, and the one function by which these pages change something.

import { queryOptions } from "@tanstack/react-query";
import type { AccountWebhooksReply } from "../../../src/operator/account-webhooks.ts";
import type { ActionReply } from "../../../src/operator/act.ts";
import type { AuditsReply } from "../../../src/readings/audits.ts";
import type {
  ConfigurationReply,
  ConfigurationsReply,
} from "../../../src/readings/configurations.ts";
import type { ContentRefusalsReply } from "../../../src/readings/content-refusals.ts";
import type { DisputesReply } from "../../../src/readings/disputes.ts";
import type { EventsReply } from "../../../src/readings/events.ts";
import type { FoundAccountsReply } from "../../../src/readings/found-accounts.ts";
import type { GrantsReply } from "../../../src/readings/grants.ts";
import type { HealthReply, PausesReply } from "../../../src/readings/health.ts";
import type { MailsReply } from "../../../src/readings/mails.ts";
import type { VouchersReply } from "../../../src/readings/offers/vouchers.ts";
import type { OperatorAccountReply } from "../../../src/readings/operator-account.ts";
import type { RejectedReply } from "../../../src/readings/rejected.ts";
import type { RevenueReply } from "../../../src/readings/revenue.ts";
import type { TrailReply } from "../../../src/readings/trail.ts";
import { get, post, type Query } from "../api/client.ts";
import { OPERATOR_API, queryClient } from "../api/queries.ts";

const RENEW_MS = 15_000;

function operatorQuery<T>(path: string, query: Query = {}, renewMs: number | false = RENEW_MS) {
  return queryOptions({
    queryKey: ["operator", path, query],
    queryFn: ({ signal }) => get<T>(`${OPERATOR_API}/${path}`, query, signal),
    refetchInterval: query.before === undefined ? renewMs : false,
  });
}

export const accountsQuery = (query: Query) => operatorQuery<FoundAccountsReply>("accounts", query);

export const accountQuery = (id: string) =>
  operatorQuery<OperatorAccountReply>(`accounts/${encodeURIComponent(id)}`, {}, 5_000);

export const accountWebhooksQuery = (id: string) =>
  operatorQuery<AccountWebhooksReply>(`accounts/${encodeURIComponent(id)}/webhooks`);

export const trailQuery = (query: Query) => operatorQuery<TrailReply>("trail", query);

export const healthQuery = operatorQuery<HealthReply>("health", {}, 5_000);

export const pausesQuery = operatorQuery<PausesReply>("pauses");

export const configurationsQuery = (query: Query) =>
  operatorQuery<ConfigurationsReply>("configurations", query, 5_000);

export const configurationQuery = (version: string) =>
  operatorQuery<ConfigurationReply>(`configurations/${encodeURIComponent(version)}`, {}, false);

export const mailsQuery = (query: Query) => operatorQuery<MailsReply>("mails", query);

export const eventsQuery = (query: Query) => operatorQuery<EventsReply>("events", query);

export const rejectedQuery = operatorQuery<RejectedReply>("rejected");

export const disputesQuery = (query: Query) => operatorQuery<DisputesReply>("disputes", query);

export const refusalsQuery = (query: Query) =>
  operatorQuery<ContentRefusalsReply>("refusals", query);

export const grantsQuery = (query: Query) => operatorQuery<GrantsReply>("grants", query);

export const vouchersQuery = (query: Query) => operatorQuery<VouchersReply>("vouchers", query);

export const revenueQuery = (query: Query) => operatorQuery<RevenueReply>("revenue", query, 60_000);

export const auditsQuery = (query: Query) => operatorQuery<AuditsReply>("audits", query, 2_000);

/** Changes something, once for its id, and reads everything again. */
export async function act(path: string, body: object): Promise<ActionReply> {
  const reply = await post<ActionReply>(`${OPERATOR_API}/${path}`, body);
  await queryClient.invalidateQueries();
  return reply;
}
