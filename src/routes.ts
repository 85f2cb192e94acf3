// The list of endpoints. From it follow routing, 404 and 405, and the documentation.

import { me } from "./account/me.ts";
import { applicationChat } from "./application/chat.ts";
import { applicationModel, applicationModels } from "./application/models.ts";
import { type BillingDeps, billing } from "./console/billing.ts";
import { disableAutoTopUp, enableAutoTopUp, removeCard } from "./console/cards.ts";
import {
  createConsoleKey,
  type KeysDeps,
  listKeys,
  renameConsoleKey,
  revokeConsoleKey,
} from "./console/keys.ts";
import { ledger } from "./console/ledger.ts";
import { type LimitsDeps, limits, setCap } from "./console/limits.ts";
import { consoleModels, type ModelsDeps } from "./console/models.ts";
import { type OverviewDeps, overview } from "./console/overview.ts";
import { PEOPLE_ENDPOINTS, type PeopleDeps } from "./console/people-endpoints.ts";
import {
  callFromPlayground,
  estimateFromPlayground,
  type PlaygroundDeps,
} from "./console/playground.ts";
import { type ReceiptDeps, receipt } from "./console/receipt.ts";
import { requests, requestsCsv } from "./console/requests.ts";
import { charge, checkout, topUp } from "./console/top-ups.ts";
import { type UsageDeps, usage, usageCsv } from "./console/usage.ts";
import type { ServiceName } from "./core/services.ts";
import type { ConsoleEndpoint } from "./http/console-endpoint.ts";
import { consoleDocument } from "./http/console-openapi.ts";
import { DASHBOARD, type DashboardDeps } from "./http/dashboard.ts";
import {
  type DocumentationDeps,
  type DocumentedLists,
  documentation,
} from "./http/documentation.ts";
import type { Endpoint } from "./http/endpoint-info.ts";
import { type HealthDeps, healthz, readyz } from "./http/health.ts";
import type { OperatorDeps } from "./operator/deps.ts";
import { OPERATOR_ENDPOINTS } from "./operator/operator-endpoints.ts";
import { stripeWebhook, type WebhookDeps } from "./payments/webhook-endpoint.ts";
import type { ChatDeps } from "./services/chat/answer-chat.ts";
import { chat } from "./services/chat/chat-endpoint.ts";
import { model, models } from "./services/chat/models-endpoint.ts";
import { type MailDeps, messageStatus, sendMessage } from "./services/mail/mail-endpoints.ts";
import { type MapsDeps, maps } from "./services/maps/maps-endpoint.ts";
import { batchSearch, type SearchDeps, search } from "./services/search/search-endpoints.ts";

/** What the Gateway's endpoints are given, of whatever service. */
export type GatewayDeps = ChatDeps & SearchDeps & MapsDeps & MailDeps;

const BY_SERVICE = {
  chat: [models, model, chat],
  search: [search, batchSearch],
  maps: [maps],
  mail: [sendMessage, messageStatus],
} satisfies Record<ServiceName, readonly Endpoint<GatewayDeps>[]>;

export const GATEWAY: readonly Endpoint<GatewayDeps>[] = [...Object.values(BY_SERVICE).flat(), me];

export const APPLICATION: readonly Endpoint<ChatDeps>[] = [
  applicationChat,
  applicationModels,
  applicationModel,
];

/** What the console's endpoints are given. */
export type ConsoleDeps = PeopleDeps &
  ModelsDeps &
  KeysDeps &
  LimitsDeps &
  BillingDeps &
  PlaygroundDeps &
  UsageDeps &
  ReceiptDeps &
  OverviewDeps;

/** The console's own API, for people with sessions. */
export const CONSOLE: readonly ConsoleEndpoint<ConsoleDeps>[] = [
  ...PEOPLE_ENDPOINTS,
  consoleModels,
  listKeys,
  createConsoleKey,
  revokeConsoleKey,
  renameConsoleKey,
  limits,
  setCap,
  billing,
  checkout,
  charge,
  topUp,
  removeCard,
  enableAutoTopUp,
  disableAutoTopUp,
  callFromPlayground,
  estimateFromPlayground,
  overview,
  usage,
  usageCsv,
  requests,
  requestsCsv,
  receipt,
  ledger,
];

/** The operators' own API; to everybody else it is not there. */
export const OPERATOR: readonly ConsoleEndpoint<OperatorDeps>[] = OPERATOR_ENDPOINTS;

/** What probes ask. */
export const HEALTH: readonly Endpoint<ProgramDeps>[] = [healthz, readyz];

/** What is documented; the documentation itself is not. */
export const DOCUMENTED: DocumentedLists = {
  gateway: GATEWAY,
  application: APPLICATION,
  program: HEALTH,
};

type ProgramDeps = HealthDeps & DocumentationDeps & WebhookDeps & DashboardDeps;

/** Endpoints of the program itself. */
export const PROGRAM: readonly Endpoint<ProgramDeps>[] = [
  ...HEALTH,
  stripeWebhook,
  ...documentation(DOCUMENTED),
  consoleDocument(CONSOLE),
  ...DASHBOARD,
];
