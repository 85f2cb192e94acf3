// The list of endpoints. From the list follow routing, 404 and 405, and the documentation.

import { applicationEndUser, endUser } from "./account/end-user-endpoint.ts";
import { applicationMe, me } from "./account/me.ts";
import { applicationQuote, type QuoteDeps, quote } from "./account/quote-endpoint.ts";
import {
  applicationReceipt,
  type ReceiptsDeps,
  receipt,
  receiptKeys,
} from "./account/receipt-endpoint.ts";
import {
  applicationRun,
  type RunsDeps,
  run,
  updateApplicationRun,
  updateRun,
} from "./account/run-endpoint.ts";
import { applicationChat } from "./application/chat.ts";
import { applicationCount, applicationMessage } from "./application/messages.ts";
import { applicationModel, applicationModels } from "./application/models.ts";
import { applicationModeration } from "./application/moderations.ts";
import {
  applicationCompact,
  applicationInputTokens,
  applicationResponse,
} from "./application/responses.ts";
import { applicationEmbedding, applicationRerank } from "./application/vectors.ts";
import { BURN_ENDPOINTS } from "./console/burn-rules.ts";
import { END_USER_ENDPOINTS } from "./console/end-users.ts";
import {
  createConsoleKey,
  type KeysDeps,
  renameConsoleKey,
  revokeConsoleKey,
  setKeyLimits,
} from "./console/keys.ts";
import { type LimitsDeps, setAccountBudget, setCap, setKeyBudget } from "./console/limits.ts";
import type { BillingDeps } from "./console/money/billing.ts";
import { disableAutoTopUp, enableAutoTopUp, removeCard } from "./console/money/cards.ts";
import { cancelConsolePlan, getPlan, orderConsolePlan } from "./console/money/plan.ts";
import { charge, checkout, topUp } from "./console/money/top-ups.ts";
import { redeemVoucher } from "./console/money/vouchers.ts";
import { PEOPLE_ENDPOINTS, type PeopleDeps } from "./console/people/people-endpoints.ts";
import {
  callFromPlayground,
  estimateFromPlayground,
  type PlaygroundDeps,
} from "./console/playground.ts";
import { READINGS, type ReadingDeps } from "./console/readings.ts";
import { type ConsoleRunsDeps, RUN_ENDPOINTS } from "./console/runs.ts";
import { WEBHOOK_ENDPOINTS, type WebhooksDeps } from "./console/webhooks.ts";
import type { ServiceName } from "./core/access/services.ts";
import type { ConsoleEndpoint } from "./http/console/console-endpoint.ts";
import { DASHBOARD, type DashboardDeps } from "./http/console/dashboard.ts";
import { consoleDocument } from "./http/docs/console-openapi.ts";
import {
  type DocumentationDeps,
  type DocumentedLists,
  documentation,
} from "./http/docs/documentation.ts";
import type { Endpoint } from "./http/endpoint-info.ts";
import { type HealthDeps, healthz, readyz } from "./http/health.ts";
import { type McpDeps, mcp } from "./mcp/mcp-endpoint.ts";
import type { OperatorDeps } from "./operator/deps.ts";
import { OPERATOR_ENDPOINTS } from "./operator/operator-endpoints.ts";
import { WEBHOOKS, type WebhookDeps } from "./payments/webhook-endpoint.ts";
import type { ChatDeps } from "./services/chat/doors/completions/answer-chat.ts";
import { chat } from "./services/chat/doors/completions/chat-endpoint.ts";
import { textCompletion } from "./services/chat/doors/completions/text-completion-endpoint.ts";
import { countTokens, messages } from "./services/chat/doors/messages/messages-endpoint.ts";
import { model, models } from "./services/chat/doors/models/models-endpoint.ts";
import { moderations } from "./services/chat/doors/moderations/moderations-endpoint.ts";
import { compact } from "./services/chat/doors/responses/compact-endpoint.ts";
import { inputTokens, responses } from "./services/chat/doors/responses/responses-endpoint.ts";
import { embeddings } from "./services/chat/doors/vectors/embeddings-endpoint.ts";
import { rerank } from "./services/chat/doors/vectors/rerank-endpoint.ts";
import { type MailDeps, messageStatus, sendMessage } from "./services/mail/mail-endpoints.ts";
import { type MapsDeps, maps } from "./services/maps/maps-endpoint.ts";
import { batchSearch, type SearchDeps, search } from "./services/search/search-endpoints.ts";
import { type DocsDeps, docsEndpoints } from "./site/docs/docs-endpoints.ts";
import { SITE, type SiteDeps } from "./site/front-door.ts";

/** The parts that the Gateway's endpoints use, for all services. */
export type GatewayDeps = ChatDeps &
  SearchDeps &
  MapsDeps &
  MailDeps &
  QuoteDeps &
  ReceiptsDeps &
  RunsDeps;

const BY_SERVICE = {
  chat: [
    models,
    model,
    chat,
    messages,
    countTokens,
    responses,
    inputTokens,
    compact,
    textCompletion,
    embeddings,
    rerank,
    moderations,
  ],
  search: [search, batchSearch],
  maps: [maps],
  mail: [sendMessage, messageStatus],
} satisfies Record<ServiceName, readonly Endpoint<GatewayDeps>[]>;

export const GATEWAY: readonly Endpoint<GatewayDeps>[] = [
  ...Object.values(BY_SERVICE).flat(),
  me,
  quote,
  receipt,
  run,
  updateRun,
  endUser,
];

/** The endpoints for agents, which speak protocols of their own. */
export const AGENTS: readonly Endpoint<McpDeps>[] = [mcp];

export const APPLICATION: readonly Endpoint<QuoteDeps & ReceiptsDeps & RunsDeps>[] = [
  applicationChat,
  applicationMessage,
  applicationCount,
  applicationResponse,
  applicationInputTokens,
  applicationCompact,
  applicationEmbedding,
  applicationRerank,
  applicationModeration,
  applicationModels,
  applicationModel,
  applicationMe,
  applicationQuote,
  applicationReceipt,
  applicationRun,
  updateApplicationRun,
  applicationEndUser,
];

/** The parts that the console's endpoints use. */
export type ConsoleDeps = PeopleDeps &
  KeysDeps &
  LimitsDeps &
  BillingDeps &
  PlaygroundDeps &
  WebhooksDeps &
  ConsoleRunsDeps &
  ReadingDeps;

/** The console's own API, for people with sessions. */
export const CONSOLE: readonly ConsoleEndpoint<ConsoleDeps>[] = [
  ...PEOPLE_ENDPOINTS,
  createConsoleKey,
  revokeConsoleKey,
  renameConsoleKey,
  setKeyLimits,
  setCap,
  setAccountBudget,
  setKeyBudget,
  checkout,
  charge,
  topUp,
  removeCard,
  enableAutoTopUp,
  disableAutoTopUp,
  getPlan,
  orderConsolePlan,
  cancelConsolePlan,
  redeemVoucher,
  callFromPlayground,
  estimateFromPlayground,
  ...RUN_ENDPOINTS,
  ...END_USER_ENDPOINTS,
  ...BURN_ENDPOINTS,
  ...WEBHOOK_ENDPOINTS,
  ...READINGS,
];

/** The operators' own API; to everybody else it is not there. */
export const OPERATOR: readonly ConsoleEndpoint<OperatorDeps>[] = OPERATOR_ENDPOINTS;

/** The endpoints for probes. */
export const HEALTH: readonly Endpoint<ProgramDeps>[] = [healthz, readyz];

/** The endpoints in the documentation; those that serve the documentation are not in it. */
export const DOCUMENTED: DocumentedLists = {
  gateway: [...GATEWAY, ...AGENTS],
  application: APPLICATION,
  program: [...HEALTH, receiptKeys],
};

type ProgramDeps = Pick<ReceiptsDeps, "receipts"> &
  HealthDeps &
  DocumentationDeps &
  WebhookDeps &
  DashboardDeps &
  SiteDeps &
  DocsDeps;

/** Endpoints of the program itself. */
export const PROGRAM: readonly Endpoint<ProgramDeps>[] = [
  ...HEALTH,
  receiptKeys,
  ...WEBHOOKS,
  ...documentation(DOCUMENTED),
  consoleDocument(CONSOLE),
  ...DASHBOARD,
  ...SITE,
  ...docsEndpoints(Object.values(DOCUMENTED).flat()),
];
