// GET …/requests: the request log by time, newest first, and one request as a receipt. There is no
// content in it, because none is stored.

import { OK } from "../../core/errors.ts";
import { CALL_STATUSES } from "../../core/usage-query.ts";
import { AsOf, before, list, reply, time, usd } from "../../http/console/fields.ts";
import { type Checked, nullable, oneOf, optional, Type, text } from "../../http/schema.ts";

export const RequestsQuery = Type.Object(
  {
    from: optional(time("The oldest")),
    to: optional(time("The newest, not included")),
    service: optional(text()),
    model: optional(text({ description: "A model, or an action of maps" })),
    key: optional(text({ description: "The id of a key" })),
    status: optional(oneOf(CALL_STATUSES)),
    code: optional(text({ description: "An error code" })),
    request: optional(text({ description: "The id of a request" })),
    min_cost_usd: optional(usd("The lowest cost")),
    before,
    limit: optional(
      text({ pattern: "^([1-9]|[1-9]\\d|1\\d\\d|200)$", must: "must be from 1 to 200" }),
    ),
  },
  { additionalProperties: false },
);
export type RequestsInput = Checked<typeof RequestsQuery>;

const Row = {
  id: text(),
  at: time("When it arrived"),
  endpoint: text(),
  service: text(),
  model: nullable(text()),
  key: Type.Object({ id: text(), name: text(), last_four: text() }),
  status: Type.Number(),
  code: nullable(text()),
  requests: Type.Number({
    description: "1, the queries of a batch, or how many refused requests this row stands for",
  }),
  prompt_tokens: Type.Number(),
  cached_tokens: Type.Number(),
  completion_tokens: Type.Number(),
  cost_usd: usd("Charged"),
  free_usd: usd("The part of it that free credit paid"),
  latency_ms: Type.Number(),
  first_token_ms: nullable(Type.Number()),
};

export const RequestRow = Type.Object(Row);

export const Requests = reply({
  as_of: AsOf,
  requests: list(RequestRow),
  next: nullable(text({ description: "`before` of the next page; null on the last" })),
});
export type RequestsReply = Checked<typeof Requests>;

/** One request as a receipt. */
export const Receipt = reply({
  as_of: AsOf,
  request: Type.Object({
    ...Row,
    country: nullable(text()),
    lane: nullable(text({ description: "The route that served it" })),
  }),
  held_usd: nullable(usd("The upper bound that was held; null if it was refused")),
  charged_usd: usd("What was charged"),
  returned_usd: usd("What of the hold was given back"),
  free_usd: usd("The part of the charge that free credit paid"),
  paid_usd: usd("The part of it that the paid balance paid"),
  balance_after_usd: nullable(usd("Both balances after it; null if nothing changed")),
  price_version: nullable(text()),
  lines: list(
    Type.Object({
      what: text({ description: "Such as `input tokens`" }),
      units: Type.Number(),
      price_usd: usd("For `per` units"),
      per: Type.Number(),
      cost_usd: usd("Before rounding up"),
    }),
    // Empty where the prices of that time are no longer known.
  ),
  refusal: nullable(
    Type.Object({
      code: text(),
      limit: nullable(text({ description: "Which limit refused it" })),
      explanation: text({ description: "In words, with what would help" }),
      docs: text({ description: "Where it is explained" }),
    }),
  ),
});
export type ReceiptReply = Checked<typeof Receipt>;

const ROW_EXAMPLE: RequestsReply["requests"][number] = {
  id: "req_7n42DGM5Tflk9n8mt7Fhc7",
  at: "2026-11-22T14:03:20.118Z",
  endpoint: "/v1/chat/completions",
  service: "chat",
  model: "fast",
  key: { id: "key_7n42DGM5Tflk9n8mt7Fhc7", name: "production", last_four: "k9Qz" },
  status: OK,
  code: null,
  requests: 1,
  prompt_tokens: 812,
  cached_tokens: 0,
  completion_tokens: 240,
  cost_usd: "0.0004215",
  free_usd: "0",
  latency_ms: 1840,
  first_token_ms: 212,
};

export const REQUESTS_EXAMPLE: RequestsReply = {
  as_of: { at: "2026-11-22T14:03:22.000Z", behind_seconds: 0.4 },
  requests: [ROW_EXAMPLE],
  next: null,
};

export const RECEIPT_EXAMPLE: ReceiptReply = {
  as_of: { at: "2026-11-22T14:03:22.000Z", behind_seconds: 0.4 },
  request: { ...ROW_EXAMPLE, country: "DE", lane: "primary" },
  held_usd: "0.0026",
  charged_usd: "0.0004215",
  returned_usd: "0.0021785",
  free_usd: "0",
  paid_usd: "0.0004215",
  balance_after_usd: "46.3836994",
  price_version: "3f9a1c",
  lines: [
    { what: "input tokens", units: 812, price_usd: "0.15", per: 1_000_000, cost_usd: "0.0001218" },
    { what: "output tokens", units: 240, price_usd: "0.6", per: 1_000_000, cost_usd: "0.000144" },
  ],
  refusal: null,
};
