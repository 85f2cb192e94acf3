// Lists the endpoints by which the people of an account read it. The operators' console and the
// command line use the same readings.

import type { Brand } from "../core/brand/brand.ts";
import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
  type PersonContext,
  personEndpoint,
  queryOf,
} from "../http/console/console-endpoint.ts";
import { replyWith } from "../http/console/record-schema.ts";
import { Type, text } from "../http/schema.ts";
import { ACTIVITY } from "../readings/activity.ts";
import {
  BILLING_ROWS_MAX,
  Billing,
  type BillingStores,
  billingReply,
  PaymentDocuments,
  paymentDocumentsReply,
} from "../readings/billing.ts";
import { focusPages } from "../readings/focus/focus.ts";
import { Keys, keysReply } from "../readings/keys.ts";
import { LEDGER } from "../readings/ledger.ts";
import { Limits, readLimits } from "../readings/limits.ts";
import { type ModelSource, Models, modelsReply } from "../readings/models.ts";
import { Overview, overviewReply } from "../readings/overview.ts";
import type { AccountSource } from "../readings/reading.ts";
import { Receipt, receiptReply } from "../readings/receipt.ts";
import type { PriceCatalogue } from "../readings/receipt-lines.ts";
import { exportRequests, REQUESTS } from "../readings/requests.ts";
import { IssuedReceipt, issuedReceiptReply } from "../readings/signed/issued-receipt.ts";
import type { SignedReceipts } from "../readings/signed/signed-receipts.ts";
import { SignedStatement, statementReply } from "../readings/signed/signed-statement.ts";
import { Team, teamReply } from "../readings/team.ts";
import { csvOf, Usage, UsageQuery, usageReply } from "../readings/usage.ts";

export interface ReadingDeps extends ConsoleFrameDeps, BillingStores {
  readonly receipts: Pick<SignedReceipts, "of" | "signStatement">;
  readonly catalogue: BrandedCatalogue;
  readonly pauses: ModelSource["pauses"];
}

type BrandedCatalogue = () => ReturnType<PriceCatalogue> & { readonly brand: Brand };

type ReadingContext = AccountContext<ReadingDeps>;

const PATH = "/console/api/accounts/{account}";
/** The account of a request, with the stores to read it from. */
function sourceOf({ deps, account }: ReadingContext): AccountSource {
  return { reading: deps.reading, account };
}

const CSV = { reply: Type.Unknown(), mediaType: "text/csv", examples: [] } as const;

const billing = accountEndpoint({
  id: "getBilling",
  method: "GET",
  path: `${PATH}/billing`,
  role: "viewer",
  summary: "Show balance, payments, cards and top-ups of an account",
  description: `Of top-ups and payments the newest ${BILLING_ROWS_MAX}.`,
  ...replyWith(Billing, { summary: "An account with a saved card" }),
  run: ({ deps, account }: ReadingContext) => billingReply(deps, account),
});

const paymentDocuments = accountEndpoint({
  id: "listPaymentDocuments",
  method: "GET",
  path: `${PATH}/payments/{payment}/documents`,
  role: "viewer",
  summary: "List the invoice of a payment and its credit notes",
  description: "They are the provider's. A payment by a saved card has none.",
  ...replyWith(PaymentDocuments, { summary: "An invoice" }),
  run: ({ deps, account, params }: ReadingContext) =>
    paymentDocumentsReply(deps, account, params.payment ?? ""),
});

const keys = accountEndpoint({
  id: "listKeys",
  method: "GET",
  path: `${PATH}/keys`,
  role: "viewer",
  summary: "List the keys of an account",
  ...replyWith(Keys, { summary: "One key" }),
  run: ({ deps, account }: ReadingContext) => keysReply(deps, account),
});

const limits = accountEndpoint({
  id: "getLimits",
  method: "GET",
  path: `${PATH}/limits`,
  role: "viewer",
  summary: "Show what limits an account, and how much of it is used now",
  ...replyWith(Limits, { summary: "A starter account" }),
  run: async ({ deps, account }: ReadingContext) => (await readLimits(deps, account)).limits,
});

const team = accountEndpoint({
  id: "team",
  method: "GET",
  path: `${PATH}/team`,
  role: "viewer",
  summary: "List the people of an account and open invitations",
  ...replyWith(Team, { summary: "Two people" }),
  run: ({ deps, account, person: { personId } }: ReadingContext) =>
    teamReply(deps.reading.database, account, { now: new Date(deps.clock.now()), personId }),
});

const models = personEndpoint({
  id: "listConsoleModels",
  method: "GET",
  path: "/console/api/models",
  summary: "List models with all their prices",
  ...replyWith(Models, { summary: "A model" }),
  run: async ({ deps }: PersonContext<ReadingDeps>) => modelsReply(deps),
});

const overview = accountEndpoint({
  id: "getOverview",
  method: "GET",
  path: `${PATH}/overview`,
  role: "viewer",
  summary: "Show what an account can spend, and what it spends",
  ...replyWith(Overview, { summary: "A starter account" }),
  run: ({ deps, account }: ReadingContext) => overviewReply(deps, account),
});

const usage = accountEndpoint({
  id: "getUsage",
  method: "GET",
  path: `${PATH}/usage`,
  role: "viewer",
  summary: "Sum what an account used, by step of time and by group",
  description:
    "Calls are summed in rows of 15 minutes as they are logged, so all figures agree with the " +
    "request log and the ledger. Groups beyond the first 20 by cost are put together.",
  query: queryOf(UsageQuery),
  ...replyWith(Usage, {
    summary: "A day by service",
    query:
      "from=2026-11-22T00:00:00Z&to=2026-11-22T15:00:00Z&" +
      "step=1h&group=service&zone=Europe/Berlin",
  }),
  run: (context: ReadingContext, input) => usageReply(sourceOf(context), input),
});

const usageCsv = accountEndpoint({
  id: "exportUsage",
  method: "GET",
  path: `${PATH}/usage.csv`,
  role: "viewer",
  summary: "Export the same figures as CSV",
  query: queryOf(UsageQuery),
  ...CSV,
  async run(context: ReadingContext, input) {
    const text = csvOf(await usageReply(sourceOf(context), input));
    const name = `usage-${input.from.slice(0, 10)}-${input.to.slice(0, 10)}.csv`;
    return csvResponse(text, name);
  },
});

const MonthQuery = Type.Object(
  { month: text({ description: "A UTC month, such as 2026-11" }) },
  { additionalProperties: false },
);

const focus = accountEndpoint({
  id: "exportFocus",
  method: "GET",
  path: `${PATH}/focus.csv`,
  role: "viewer",
  summary: "Export a month in the form of FOCUS 1.3, for FinOps tools",
  description:
    "A row for each day, key, model and price. The rows of usage add up to the charges of the " +
    "ledger; with the credits, to what was paid from the paid balance.",
  query: queryOf(MonthQuery),
  ...CSV,
  run: async (context: ReadingContext, { month }) => {
    const { catalogue, clock } = context.deps;
    const question = { month, catalogue, provider: catalogue().brand.name, nowMs: clock.now() };
    const pages = focusPages(sourceOf(context), question);
    return csvResponse(streamOf(pages), `focus-${month}.csv`);
  },
});

const requests = accountEndpoint({
  id: "listRequests",
  path: `${PATH}/requests`,
  role: "viewer",
  summary: "List the request log, newest first",
  description: "It has no content of any request, because none is stored.",
  ...REQUESTS.endpoint("The newest", "limit=1"),
  run: (context: ReadingContext, input) => REQUESTS.page(sourceOf(context), input),
});

const requestsCsv = accountEndpoint({
  id: "exportRequests",
  method: "GET",
  path: `${PATH}/requests.csv`,
  role: "viewer",
  summary: "Export the request log as CSV, oldest first",
  query: REQUESTS.query,
  ...CSV,
  async run(context: ReadingContext, input) {
    const pages = await exportRequests(sourceOf(context), input);
    return csvResponse(streamOf(pages), "requests.csv");
  },
});

const receipt = accountEndpoint({
  id: "getRequest",
  method: "GET",
  path: `${PATH}/requests/{request}`,
  role: "viewer",
  summary: "Show one request as a receipt",
  ...replyWith(Receipt, { summary: "A chat" }),
  run: (context: ReadingContext) =>
    receiptReply(sourceOf(context), context.params.request ?? "", context.deps.catalogue),
});

const issuedReceipt = accountEndpoint({
  id: "getIssuedReceipt",
  method: "GET",
  path: `${PATH}/requests/{request}/receipt`,
  role: "viewer",
  summary: "Show the signed receipt of a request",
  description:
    "It is issued at the first request for it and has the same bytes after that. 409 while the " +
    "call is not final, 410 once its log was dropped and no receipt had been issued.",
  ...replyWith(IssuedReceipt, { summary: "A chat" }),
  run: ({ deps, account, params }: ReadingContext) =>
    issuedReceiptReply(deps, account.id, params.request ?? ""),
});

const statement = accountEndpoint({
  id: "getStatement",
  method: "GET",
  path: `${PATH}/statement`,
  role: "viewer",
  summary: "Show the signed statement of a month",
  description:
    "The balances at both ends of the month, and what led from one to the other. The charges are " +
    "those of the ledger, and add up to the receipts of the month's calls.",
  query: queryOf(MonthQuery),
  ...replyWith(SignedStatement, { summary: "A month", query: "month=2026-11" }),
  run: (context: ReadingContext, { month }) => {
    const { receipts, clock } = context.deps;
    return statementReply(sourceOf(context), month, { receipts, nowMs: clock.now() });
  },
});

const ledger = accountEndpoint({
  id: "listLedger",
  path: `${PATH}/ledger`,
  role: "viewer",
  summary: "List the ledger, newest first",
  ...LEDGER.endpoint("All entries", "kind=all"),
  run: (context: ReadingContext, input) => LEDGER.page(sourceOf(context), input),
});

const activity = accountEndpoint({
  id: "activity",
  path: `${PATH}/activity`,
  role: "owner",
  summary: "Who did what in the account",
  ...ACTIVITY.endpoint("A new key"),
  run: (context: ReadingContext, input) => ACTIVITY.page(sourceOf(context), input),
});

/** A response with a CSV file. */
function csvResponse(body: string | ReadableStream<Uint8Array>, name: string): Response {
  const headers = {
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": `attachment; filename="${name}"`,
  };
  return new Response(body, { headers });
}

/** Streams pages as they are read, so that at most one is in memory. */
function streamOf(pages: AsyncGenerator<{ readonly csv: string }>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pages.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value.csv));
    },
    async cancel() {
      await pages.return(undefined);
    },
  });
}

export const READINGS = [
  models,
  team,
  keys,
  limits,
  billing,
  paymentDocuments,
  overview,
  usage,
  usageCsv,
  focus,
  requests,
  requestsCsv,
  receipt,
  issuedReceipt,
  statement,
  activity,
  ledger,
] as const;
