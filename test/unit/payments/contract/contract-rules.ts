// Lists the rules of the contract with Stripe: each call of Stripe's library in our code, and the
// allowed differences from Stripe's OpenAPI document, with their reasons.

/** Each call of the library in our code, and its endpoint. */
export const CALLS: Readonly<Record<string, string>> = {
  "charges.retrieve": "GET /v1/charges/{charge}",
  "checkout.sessions.create": "POST /v1/checkout/sessions",
  "checkout.sessions.expire": "POST /v1/checkout/sessions/{session}/expire",
  "checkout.sessions.list": "GET /v1/checkout/sessions",
  "checkout.sessions.retrieve": "GET /v1/checkout/sessions/{session}",
  "creditNotes.create": "POST /v1/credit_notes",
  "creditNotes.list": "GET /v1/credit_notes",
  "customers.create": "POST /v1/customers",
  "disputes.list": "GET /v1/disputes",
  "disputes.retrieve": "GET /v1/disputes/{dispute}",
  "events.list": "GET /v1/events",
  "invoicePayments.list": "GET /v1/invoice_payments",
  "invoices.addLines": "POST /v1/invoices/{invoice}/add_lines",
  "invoices.attachPayment": "POST /v1/invoices/{invoice}/attach_payment",
  "invoices.create": "POST /v1/invoices",
  "invoices.finalizeInvoice": "POST /v1/invoices/{invoice}/finalize",
  "invoices.list": "GET /v1/invoices",
  "invoices.retrieve": "GET /v1/invoices/{invoice}",
  "paymentIntents.confirm": "POST /v1/payment_intents/{intent}/confirm",
  "paymentIntents.create": "POST /v1/payment_intents",
  "paymentIntents.list": "GET /v1/payment_intents",
  "paymentIntents.retrieve": "GET /v1/payment_intents/{intent}",
  "paymentMethods.detach": "POST /v1/payment_methods/{payment_method}/detach",
  "paymentMethods.retrieve": "GET /v1/payment_methods/{payment_method}",
  "radar.earlyFraudWarnings.list": "GET /v1/radar/early_fraud_warnings",
  "radar.earlyFraudWarnings.retrieve": "GET /v1/radar/early_fraud_warnings/{early_fraud_warning}",
  "refunds.create": "POST /v1/refunds",
  "refunds.retrieve": "GET /v1/refunds/{refund}",
  "refunds.list": "GET /v1/refunds",
  "tax.calculations.create": "POST /v1/tax/calculations",
  "tax.calculations.listLineItems": "GET /v1/tax/calculations/{calculation}/line_items",
};

export interface KnownDifference {
  readonly endpoint: string;
  /** The parameter that the document lacks. */
  readonly parameter: string;
  readonly reason: string;
}

/** Parameters that are newer than the document; a newer document must make this list shorter. */
export const NEWER_PARAMETERS: readonly KnownDifference[] = [
  {
    endpoint: "POST /v1/checkout/sessions",
    parameter: "allowed_payment_method_types",
    reason:
      "our Stripe library speaks 2026-10-28.endive, where it replaced payment_method_types; the " +
      "document is of 2026-08-26.dahlia",
  },
];

/** Fields of the sandbox that the document lacks. The list is empty, and must stay so. */
export const NEWER_FIELDS: readonly string[] = [];
