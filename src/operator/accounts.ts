// Defines the endpoints at which operators read an account, as its people read it.

import { RUNS } from "../console/run-lists.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import { replyWith } from "../http/console/record-schema.ts";
import {
  Billing,
  billingReply,
  PaymentDocuments,
  paymentDocumentsReply,
} from "../readings/billing.ts";
import { Keys, keysReply } from "../readings/keys.ts";
import { OperatorAccount, operatorAccountJson } from "../readings/operator-account.ts";
import { readOverview } from "../readings/overview.ts";
import { Receipt, receiptReply } from "../readings/receipt.ts";
import { REQUESTS } from "../readings/requests.ts";
import { IssuedReceipt, issuedReceiptReply } from "../readings/signed/issued-receipt.ts";
import { teamReply } from "../readings/team.ts";
import { ACCOUNT_PATH, accountOf, type Context, sourceOf } from "./deps.ts";

const account = operatorEndpoint({
  id: "getOperatorAccount",
  method: "GET",
  path: ACCOUNT_PATH,
  summary: "Show an account: balances, holds, tier, people",
  ...replyWith(OperatorAccount, { summary: "An account" }),
  async run(context: Context) {
    const { deps, person } = context;
    const row = await accountOf(context);
    const { reply: overview, summary } = await readOverview(deps, row);
    const reader = { now: new Date(deps.clock.now()), personId: person.personId };
    return operatorAccountJson({
      ...row,
      openCalls: summary.openCalls,
      openStreams: summary.openStreams,
      overview,
      people: await teamReply(deps.reading.database, row, reader),
    });
  },
});

const billing = operatorEndpoint({
  id: "getAccountBilling",
  method: "GET",
  path: `${ACCOUNT_PATH}/billing`,
  summary: "Show payments, top-ups and cards of an account",
  ...replyWith(Billing, { summary: "An account with a card" }),
  run: async (context: Context) => await billingReply(context.deps, await accountOf(context)),
});

const paymentDocuments = operatorEndpoint({
  id: "listAccountPaymentDocuments",
  method: "GET",
  path: `${ACCOUNT_PATH}/payments/{payment}/documents`,
  summary: "List the invoice of a payment of an account and its credit notes",
  ...replyWith(PaymentDocuments, { summary: "An invoice" }),
  run: async (context: Context) =>
    await paymentDocumentsReply(
      context.deps,
      await accountOf(context),
      context.params.payment ?? "",
    ),
});

const keys = operatorEndpoint({
  id: "listAccountKeys",
  method: "GET",
  path: `${ACCOUNT_PATH}/keys`,
  summary: "List the keys of an account",
  ...replyWith(Keys, { summary: "One key" }),
  run: async (context: Context) => await keysReply(context.deps, await accountOf(context)),
});

const requests = operatorEndpoint({
  id: "listAccountRequests",
  path: `${ACCOUNT_PATH}/requests`,
  summary: "List the request log of an account, newest first",
  ...REQUESTS.endpoint("The newest", "limit=1"),
  run: async (context: Context, input) => await REQUESTS.page(await sourceOf(context), input),
});

const runs = operatorEndpoint({
  id: "listAccountRuns",
  path: `${ACCOUNT_PATH}/runs`,
  summary: "List the runs of an account, newest first",
  ...RUNS.endpoint("One run"),
  async run(context: Context, input) {
    const account = await accountOf(context);
    return await RUNS.page({ runs: context.deps.runs, account }, input);
  },
});

const receipt = operatorEndpoint({
  id: "getAccountRequest",
  method: "GET",
  path: `${ACCOUNT_PATH}/requests/{request}`,
  summary: "Show one request of an account as a receipt",
  ...replyWith(Receipt, { summary: "A chat" }),
  async run(context: Context) {
    const { deps, params } = context;
    return await receiptReply(await sourceOf(context), params.request ?? "", deps.catalogue);
  },
});

const issuedReceipt = operatorEndpoint({
  id: "getAccountIssuedReceipt",
  method: "GET",
  path: `${ACCOUNT_PATH}/requests/{request}/receipt`,
  summary: "Show the signed receipt of a request of an account",
  ...replyWith(IssuedReceipt, { summary: "A chat" }),
  async run(context: Context) {
    const { deps, params } = context;
    const { id } = await accountOf(context);
    return await issuedReceiptReply(deps, id, params.request ?? "");
  },
});

export const ACCOUNT_READINGS = [
  account,
  billing,
  paymentDocuments,
  keys,
  requests,
  runs,
  receipt,
  issuedReceipt,
] as const;
