// Answers the part of Stripe's API that Farebox uses, in Stripe's own form: parameters as nested
// form fields, errors, lists in pages, idempotency keys.

import { isFullText } from "../../core/text/json.ts";
import type { SandboxActions } from "./sandbox-actions.ts";
import {
  addLines,
  attachPayment,
  createCreditNote,
  createDraft,
  finalizeInvoice,
  type InvoiceLine,
  intentOf,
} from "./sandbox-invoices.ts";
import { type ApiAnswer, type ApiRequest, keepAnswer, keptAnswer } from "./sandbox-keys.ts";
import { refusal, SandboxRefusal } from "./sandbox-refusal.ts";
import type { SandboxObject } from "./sandbox-store.ts";

type Params = { readonly [name: string]: string | Params };
type Handler = (actions: SandboxActions, id: string, params: Params) => SandboxObject | object;

/** The paths that list the objects of each kind. */
const LISTS: Readonly<Record<string, string>> = {
  payment_intent: "payment_intents",
  "checkout.session": "checkout/sessions",
  refund: "refunds",
  dispute: "disputes",
  "radar.early_fraud_warning": "radar/early_fraud_warnings",
  event: "events",
  invoice: "invoices",
  invoice_payment: "invoice_payments",
  credit_note: "credit_notes",
};

const PAGE_SECONDS_MIN = 1_800;
const PAGE_SECONDS_MAX = 86_400;
const LIST_MAX = 100;
const LIST_DEFAULT = 10;

/** Handlers by method and path; `*` is the id of an object. */
const ROUTES: Readonly<Record<string, Handler>> = {
  "POST /v1/customers": (actions, _, params) =>
    actions.create("customer", "cus", {
      email: text(params, "email"),
      metadata: group(params, "metadata"),
    }),
  "GET /v1/customers/*": (actions, id) => actions.get(id, "customer"),
  "POST /v1/checkout/sessions": (actions, _, params) => createSession(actions, params),
  "GET /v1/checkout/sessions": (actions, _, params) => listed(actions, "checkout.session", params),
  "GET /v1/checkout/sessions/*": (actions, id) => actions.get(id, "checkout.session"),
  "POST /v1/checkout/sessions/*/expire": (actions, id) => actions.expireSession(id),
  "POST /v1/payment_intents": (actions, _, params) => createIntent(actions, params),
  "GET /v1/payment_intents": (actions, _, params) => listed(actions, "payment_intent", params),
  "GET /v1/payment_intents/*": (actions, id) => expandedIntent(actions, id),
  "POST /v1/payment_intents/*/confirm": (actions, id, params) => confirmIntent(actions, id, params),
  "POST /v1/tax/calculations": (actions, _, params) => calculateTax(actions, params),
  "GET /v1/tax/calculations/*/line_items": (actions, id) => taxedLines(actions, id),
  "GET /v1/charges/*": (actions, id) => actions.get(id, "charge"),
  "POST /v1/refunds": (actions, _, params) => {
    const amount = text(params, "amount");
    const intent = required(params, "payment_intent");
    const cents = amount === null ? null : Number(amount);
    return actions.refund(intent, cents, group(params, "metadata"));
  },
  "GET /v1/refunds": (actions, _, params) => listed(actions, "refund", params),
  "GET /v1/refunds/*": (actions, id) => actions.get(id, "refund"),
  "POST /v1/invoices": (actions, _, params) =>
    createDraft(actions, {
      customer: required(params, "customer"),
      metadata: group(params, "metadata"),
    }),
  "GET /v1/invoices": (actions, _, params) => listed(actions, "invoice", params),
  "GET /v1/invoices/*": (actions, id) => actions.get(id, "invoice"),
  "POST /v1/invoices/*/add_lines": (actions, id, params) =>
    addLines(actions, id, Object.values(group(params, "lines")).map(invoiceLine)),
  "POST /v1/invoices/*/finalize": (actions, id) => finalizeInvoice(actions, id),
  "POST /v1/invoices/*/attach_payment": (actions, id, params) =>
    attachPayment(actions, id, required(params, "payment_intent")),
  "GET /v1/invoice_payments": (actions, _, params) => listed(actions, "invoice_payment", params),
  "GET /v1/credit_notes": (actions, _, params) => listed(actions, "credit_note", params),
  "POST /v1/credit_notes": (actions, _, params) =>
    createCreditNote(actions, {
      invoice: actions.get(required(params, "invoice"), "invoice"),
      amount: Number(required(params, "amount")),
      refunds: Object.values(group(params, "refunds")).map((one) =>
        required(typeof one === "string" ? {} : one, "refund"),
      ),
      metadata: group(params, "metadata"),
    }),
  "GET /v1/disputes": (actions, _, params) => listed(actions, "dispute", params),
  "GET /v1/disputes/*": (actions, id) => actions.get(id, "dispute"),
  "POST /v1/disputes/*/close": (actions, id) => actions.moveDispute(id, "lost"),
  "GET /v1/radar/early_fraud_warnings": (actions, _, params) =>
    listed(actions, "radar.early_fraud_warning", params),
  "GET /v1/radar/early_fraud_warnings/*": (actions, id) =>
    actions.get(id, "radar.early_fraud_warning"),
  "GET /v1/payment_methods/*": (actions, id) => actions.get(id, "payment_method"),
  "POST /v1/payment_methods/*/detach": (actions, id) => actions.detach(id),
  "GET /v1/events": (actions, _, params) => listed(actions, "event", params),
  "GET /v1/events/*": (actions, id) => actions.get(id, "event"),
};

/** Answers a request as Stripe does; the same key and request get the same answer. */
export function answerApi(actions: SandboxActions, request: ApiRequest): ApiAnswer {
  const kept = keptAnswer(actions.store, request);
  if (kept !== null) return kept;
  const answer = answerOnce(actions, request);
  keepAnswer(actions.store, request, answer);
  return answer;
}

function answerOnce(actions: SandboxActions, request: ApiRequest): ApiAnswer {
  try {
    const [handler, id] = routeOf(request);
    const form = request.method === "GET" ? request.query : new URLSearchParams(request.body);
    return { status: 200, body: handler(actions, id, nested(form)) };
  } catch (error) {
    if (!(error instanceof SandboxRefusal)) throw error;
    const isCard = error.error.type === "card_error";
    return { status: error.isMissing ? 404 : isCard ? 402 : 400, body: { error: error.error } };
  }
}

function routeOf({ method, path }: ApiRequest): readonly [Handler, string] {
  const plain = ROUTES[`${method} ${path}`];
  if (plain !== undefined) return [plain, ""];
  const parts = path.split("/");
  for (const at of [parts.length - 1, parts.length - 2]) {
    const pattern = parts.with(at, "*").join("/");
    const handler = ROUTES[`${method} ${pattern}`];
    if (handler !== undefined) return [handler, parts[at] ?? ""];
  }
  const message = `Unrecognized request URL (${method}: ${path}).`;
  throw new SandboxRefusal({ type: "invalid_request_error", message }, true);
}

function createSession(actions: SandboxActions, params: Params): SandboxObject {
  const lines = Object.values(group(params, "line_items")).map((line) => {
    const data = group(typeof line === "string" ? {} : line, "price_data");
    const name = text(group(data, "product_data"), "name") ?? "";
    return { name, amount: Number(required(data, "unit_amount")) };
  });
  const cents = lines.reduce((sum, { amount }) => sum + amount, 0);
  const isTaxed = text(group(params, "automatic_tax"), "enabled") === "true";
  const tax = isTaxed ? taxOn(cents) : 0;
  const until = text(params, "expires_at");
  const expires = until === null ? actions.store.nowSeconds + PAGE_SECONDS_MAX : Number(until);
  const seconds = expires - actions.store.nowSeconds;
  if (seconds > PAGE_SECONDS_MAX || seconds < PAGE_SECONDS_MIN) {
    const message = "The `expires_at` timestamp must be 30 minutes to 24 hours from now.";
    throw new SandboxRefusal({ type: "invalid_request_error", message, param: "expires_at" });
  }
  const makesInvoice = text(group(params, "invoice_creation"), "enabled") === "true";
  const takesTaxId = text(group(params, "tax_id_collection"), "enabled") === "true";
  const session = actions.create("checkout.session", "cs", {
    billing_address_collection: text(params, "billing_address_collection"),
    invoice: null,
    invoice_creation: { enabled: makesInvoice, invoice_data: {} },
    tax_id_collection: { enabled: takesTaxId, required: "never" },
    amount_subtotal: cents,
    amount_total: cents + tax,
    automatic_tax: { enabled: isTaxed, status: isTaxed ? "complete" : null },
    line_items: { object: "list", data: lines.map(lineItem), has_more: false, url: "" },
    client_reference_id: text(params, "client_reference_id"),
    currency: "usd",
    custom_fields: [],
    custom_text: group(params, "custom_text"),
    customer: required(params, "customer"),
    expires_at: expires,
    metadata: group(params, "metadata"),
    mode: "payment",
    payment_intent: null,
    payment_method_types: ["card"],
    payment_status: "unpaid",
    shipping_options: [],
    status: "open",
    success_url: required(params, "success_url"),
    cancel_url: text(params, "cancel_url"),
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: tax },
  });
  actions.store.setTerms(session.id, group(params, "payment_intent_data"));
  return actions.store.change(session.id, { url: `/pay/${session.id}` });
}

function lineItem(
  { name, amount }: { readonly name: string; readonly amount: number },
  at: number,
) {
  return {
    id: `li_sandbox_${at + 1}`,
    object: "item",
    amount_discount: 0,
    amount_subtotal: amount,
    amount_tax: 0,
    amount_total: amount,
    currency: "usd",
    description: name,
    quantity: 1,
  };
}

/** The tax rate of every country. */
const TAX_PERCENT = 10;

function taxOn(cents: number): number {
  return Math.round((cents * TAX_PERCENT) / 100);
}

function calculateTax(actions: SandboxActions, params: Params): SandboxObject {
  const lines = Object.values(group(params, "line_items"));
  const cents = lines.reduce(
    (sum, line) => sum + Number(required(typeof line === "string" ? {} : line, "amount")),
    0,
  );
  const calculation = actions.create("tax.calculation", "taxcalc", {
    amount_total: cents + taxOn(cents),
    currency: "usd",
    customer: text(params, "customer"),
    customer_details: { tax_ids: [], taxability_override: "none" },
    tax_breakdown: [],
    tax_date: actions.store.nowSeconds,
    tax_amount_exclusive: taxOn(cents),
    tax_amount_inclusive: 0,
  });
  actions.store.setTerms(calculation.id, { lines });
  return calculation;
}

/** The lines of a calculation; the last one takes the rounding of the tax. */
function taxedLines(actions: SandboxActions, id: string): object {
  const { tax_amount_exclusive: sum } = actions.get(id, "tax.calculation");
  const lines = actions.store.termsOf(id).lines as readonly Params[];
  let left = Number(sum);
  const data = lines.map((line, at) => {
    const amount = Number(required(line, "amount"));
    const tax = at === lines.length - 1 ? left : taxOn(amount);
    left -= tax;
    return {
      id: `tax_li_sandbox_${at + 1}`,
      object: "tax.calculation_line_item",
      amount,
      amount_tax: tax,
      livemode: false,
      metadata: null,
      product: null,
      quantity: 1,
      reference: required(line, "reference"),
      tax_behavior: "exclusive",
      tax_breakdown: [taxOf(amount, tax)],
      tax_code: "txcd_10000000",
    };
  });
  return { object: "list", url: `/v1/tax/calculations/${id}/line_items`, data, has_more: false };
}

function taxOf(taxable: number, amount: number) {
  return {
    amount,
    jurisdiction: { country: "US", display_name: "Sandbox", level: "state", state: "CA" },
    sourcing: "destination",
    tax_rate_details: {
      display_name: "Sales tax",
      percentage_decimal: String(TAX_PERCENT),
      tax_type: "sales_tax",
    },
    taxability_reason: "standard_rated",
    taxable_amount: taxable,
  };
}

function invoiceLine(line: string | Params): InvoiceLine {
  const fields = typeof line === "string" ? {} : line;
  const taxes = Object.values(group(fields, "tax_amounts")).map((tax) =>
    Number(required(typeof tax === "string" ? {} : tax, "amount")),
  );
  return {
    name: required(fields, "description"),
    amount: Number(required(fields, "amount")),
    tax: taxes.reduce((sum, tax) => sum + tax, 0),
  };
}

function createIntent(actions: SandboxActions, params: Params): SandboxObject {
  const isCharge = text(params, "confirm") === "true";
  // Checked first: no payment is created for a card that cannot be charged.
  if (isCharge) cardOf(actions, text(params, "customer"), params);
  const tax = group(group(group(params, "hooks"), "inputs"), "tax");
  const calculation = text(tax, "calculation");
  const intent = actions.createIntent({
    amount: Number(required(params, "amount")),
    customer: required(params, "customer"),
    description: text(params, "description"),
    metadata: group(params, "metadata"),
    ...(calculation !== null && { hooks: { inputs: { tax: { calculation } } } }),
  });
  return isCharge ? confirmIntent(actions, intent.id, params) : intent;
}

function confirmIntent(actions: SandboxActions, id: string, params: Params): SandboxObject {
  const card = cardOf(actions, actions.get(id, "payment_intent").customer, params);
  return actions.confirm(id, card, actions.store.behaviourOf(card));
}

/** Returns the card to charge. @throws SandboxRefusal unless this customer has it */
function cardOf(actions: SandboxActions, customer: unknown, params: Params): string {
  const card = required(params, "payment_method");
  if (actions.get(card, "payment_method").customer === customer) return card;
  throw refusal("The PaymentMethod was detached, or is of another customer.");
}

/** The charge and the card are always expanded: Farebox asks for both. */
function expandedIntent(actions: SandboxActions, id: string): object {
  const intent = actions.get(id, "payment_intent");
  const of = (reference: unknown) =>
    typeof reference === "string" ? actions.store.find(reference) : null;
  return {
    ...intent,
    latest_charge: of(intent.latest_charge),
    payment_method: of(intent.payment_method),
  };
}

function listed(actions: SandboxActions, kind: string, params: Params): object {
  const since = Number(text(group(params, "created"), "gte") ?? 0);
  const wanted = ["payment_intent", "customer", "invoice"].filter(
    (field) => text(params, field) !== null,
  );
  const paidBy = text(group(params, "payment"), "payment_intent");
  const all = actions.store
    .list(kind)
    .filter((object) => wanted.every((field) => object[field] === text(params, field)))
    .filter((object) => paidBy === null || intentOf(object) === paidBy)
    .filter(({ created = 0 }) => created >= since);
  const after = text(params, "starting_after");
  const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const limit = Math.min(Number(text(params, "limit") ?? LIST_DEFAULT), LIST_MAX);
  const data = all.slice(start, start + limit);
  const url = `/v1/${LISTS[kind] ?? kind}`;
  return { object: "list", url, data, has_more: all.length > start + limit };
}

/** Form fields such as `metadata[a]` as nested objects. */
function nested(form: URLSearchParams): Params {
  const root: Record<string, string | Params> = {};
  for (const [name, value] of form) {
    const path = name.split(/[[\]]+/).filter((part) => part !== "");
    let at = root;
    for (const part of path.slice(0, -1)) {
      const next: string | Params = Object.hasOwn(at, part) ? (at[part] ?? {}) : {};
      const inner: Record<string, string | Params> = typeof next === "string" ? {} : { ...next };
      at[part] = inner;
      at = inner;
    }
    at[path.at(-1) ?? ""] = value;
  }
  return root;
}

function text(params: Params, name: string): string | null {
  const value = Object.hasOwn(params, name) ? params[name] : undefined;
  return isFullText(value) ? value : null;
}

function group(params: Params, name: string): Params {
  const value = Object.hasOwn(params, name) ? params[name] : undefined;
  return typeof value === "object" ? value : {};
}

function required(params: Params, name: string): string {
  const value = text(params, name);
  if (value !== null) return value;
  const message = `Missing required param: ${name}.`;
  throw new SandboxRefusal({ type: "invalid_request_error", message, param: name });
}
