// The request and the reply of POST /v1/quote.

import { CALL_LIMITS } from "../core/access/budgets.ts";
import type { Surface } from "../core/access/services.ts";
import type { Example } from "../http/endpoint-info.ts";
import { PlainCost } from "../http/reply-schema.ts";
import {
  anyObject,
  named,
  nullable,
  oneOf,
  Type,
  text,
  usdAmount,
  whole,
  wholeCount,
} from "../http/schema.ts";
import { GUIDE_MODEL } from "../services/chat/models/catalogue.ts";
import { bindingBudget } from "./budget-json.ts";

export const QuoteBody = Type.Object(
  {
    path: text({
      description: "The endpoint of the call",
      examples: ["/v1/chat/completions"],
    }),
    body: Type.Union([anyObject(), Type.Array(anyObject())], {
      must: "must be an object, or the array of a batch",
      description: "Its body; for maps, the parameters of its query",
    }),
  },
  { additionalProperties: false },
);

export const Quote = named("Quote", {
  object: Type.Literal("quote"),
  path: text(),
  model: nullable(text({ description: "The model, or the action of maps" })),
  hold_usd: usdAmount("The upper bound of the cost, which the call would hold"),
  web_search: nullable(
    Type.Object(
      {
        searches_max: wholeCount("The most searches of the model"),
        hold_usd: usdAmount("The part of `hold_usd` that is held for them, of paid credit"),
      },
      { description: "For a response whose model can search" },
    ),
  ),
  likely: Type.Object(
    {
      cost_usd: usdAmount("The likely cost"),
      prompt_tokens: Type.Optional(wholeCount("The prompt as counted here, none of it cached")),
      completion_tokens: Type.Optional(
        wholeCount(
          "The mean of the account's replies from this model in 30 days; without any, the limit",
        ),
      ),
    },
    { description: "An estimate. What is charged is never above `hold_usd`" },
  ),
  prices: Type.Array(
    Type.Object({
      what: text({ examples: ["input tokens"] }),
      price_usd: text({ description: "USD for `per` units, as decimal digits" }),
      per: wholeCount("The units of the price"),
    }),
    { description: "Of the first price row of a model; /v1/models has all rows" },
  ),
  price_version: nullable(text({ description: "The log has it for each call" })),
  would_pass: Type.Boolean({ description: "True if the call would be admitted now" }),
  refusal: nullable(
    Type.Object(
      {
        code: text(),
        message: text(),
        status: whole(400, 599),
        retry_after: nullable(wholeCount("Seconds after which the same call can pass")),
      },
      { description: "What the call would be refused with; null if it would pass" },
    ),
  ),
  spendable_usd: usdAmount("What the call could hold at most now"),
  spendable_limit: oneOf(CALL_LIMITS, { description: "What keeps it from being more" }),
  spendable_budget: bindingBudget({
    month: "also that of the key's monthly limit",
    total: "also that of a run",
  }),
  max_tokens_affordable: nullable(
    wholeCount(
      "For a chat: the highest output limit with which it would be admitted now, by money, the " +
        "model, its context and the tokens of the key; 0 if none would",
    ),
  ),
  valid_until: text({
    format: "date-time",
    description:
      "The next UTC hour, at which prices may change by their own rows. A new configuration " +
      "changes `price_version` before that",
  }),
  svc: PlainCost,
});

const REPLY = {
  object: "quote",
  model: GUIDE_MODEL,
  hold_usd: 0.0124,
  web_search: null,
  likely: { cost_usd: 0.0021, prompt_tokens: 9, completion_tokens: 310 },
  prices: [
    { what: "input tokens", price_usd: "0.15", per: 1_000_000 },
    { what: "cached input tokens", price_usd: "0.075", per: 1_000_000 },
    { what: "output tokens", price_usd: "0.6", per: 1_000_000 },
  ],
  price_version: "3f9a1c",
  would_pass: true,
  refusal: null,
  spendable_usd: 4.98,
  spendable_limit: "balance",
  spendable_budget: null,
  max_tokens_affordable: 32_000,
  valid_until: "2026-11-28T15:00:00.000Z",
  svc: { request_id: "req_0351Ki6Po6Ze8c7RSniYDy", cost_usd: 0 },
};

const chatAt = (path: string): Example => ({
  summary: "A chat",
  body: {
    path,
    body: { model: GUIDE_MODEL, messages: [{ role: "user", content: "Hello" }], max_tokens: 500 },
  },
  reply: { ...REPLY, path },
});

const SEARCH: Example = {
  summary: "A search",
  body: { path: "/v1/search", body: { query: "prepaid gateway", max_results: 5 } },
  reply: {
    ...REPLY,
    path: "/v1/search",
    model: null,
    hold_usd: 0.005,
    likely: { cost_usd: 0.005 },
    prices: [{ what: "result", price_usd: "0.001", per: 1 }],
    max_tokens_affordable: null,
  },
};

export const QUOTE_EXAMPLES: Readonly<Record<Surface, readonly Example[]>> = {
  gateway: [chatAt("/v1/chat/completions"), SEARCH],
  application: [chatAt("/api/v1/chat/completions")],
};
