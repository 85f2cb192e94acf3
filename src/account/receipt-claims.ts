// The schema of the claims of a receipt (core/receipts/receipt-jws.ts).

import { OK } from "../core/errors.ts";
import { anyObject, named, nullable, Type, text, whole, wholeCount } from "../http/schema.ts";
import { time } from "./budget-json.ts";

const usd = (description: string) =>
  text({ pattern: "^\\d+(\\.\\d{1,9})?$", description: `${description}, as decimal digits` });

export const Claims = named(
  "ReceiptClaims",
  {
    iss: text({ description: "The service that issued the receipt" }),
    sub: text({ pattern: "^acct_[0-9A-Za-z]{22}$", description: "The account" }),
    jti: text({ pattern: "^req_[0-9A-Za-z]{22}$", description: "The request" }),
    iat: wholeCount("When the receipt was issued, in Unix seconds"),
    receipt: Type.Object({
      number: whole(1, 32_767, { description: "1 for the first receipt of the request" }),
      corrects: nullable(
        whole(1, 32_767, { description: "The number of the receipt it corrects; null for none" }),
      ),
      at: time("When the call was admitted"),
      key: text({ description: "The id of the API key" }),
      endpoint: text({ examples: ["/v1/chat/completions"] }),
      service: text({ examples: ["chat"] }),
      model: nullable(
        text({ description: "What served the call: a model, or an action of maps; else null" }),
      ),
      asked_model: Type.Optional(
        nullable(
          text({ description: "The name that the call asked for: an id, an alias, or `auto`" }),
        ),
      ),
      price_version: nullable(text({ description: "The prices of the call" })),
      tier: Type.Optional(
        text({ description: "The provider's tier; left out for the standard one" }),
      ),
      units: anyObject({
        description:
          "Counts as decimal digits: the tokens by part and the calls of tools of a model, the " +
          "requests of other services",
      }),
      usage_source: text({
        description: "Who counted: `provider`, or this service (`counted`, `contradicted`)",
      }),
      hold_usd: nullable(usd("What was held")),
      cost_usd: usd("What was charged"),
      free_usd: usd("The part of it that free credit paid"),
      balance_after_usd: nullable(
        text({
          pattern: "^-?\\d+(\\.\\d{1,9})?$",
          description: "Both balances after the charge; null if nothing was charged",
        }),
      ),
      status: whole(100, 599, { description: "The status of the reply" }),
      error_code: nullable(text({ description: "Null for a call that did not fail" })),
      stopped_by: Type.Optional(
        text({
          description: "`max_cost` or `content_filter`; left out where neither ended the reply",
        }),
      ),
    }),
  },
  {
    description:
      "The payload of the JWS. Amounts and counts are decimal digits in texts, so that no reader " +
      "rounds them. A receipt that was issued before there was a claim lacks that claim",
  },
);

const KEY = "key_0351Ki6Po6Ze8c7RSniYDy";

export const CLAIMS_EXAMPLE = {
  iss: "https://api.example.com",
  sub: "acct_0351Ki6Po6Ze8c7RSniYDy",
  jti: "req_0351Ki6Po6Ze8c7RSniYDy",
  iat: 1_795_356_204,
  receipt: {
    number: 1,
    corrects: null,
    at: "2026-11-22T14:03:20.118Z",
    key: KEY,
    endpoint: "/v1/chat/completions",
    service: "chat",
    model: "farebox-guide",
    asked_model: "farebox-guide",
    price_version: "3f9a1c",
    units: { uncached: "9", text: "310" },
    usage_source: "provider",
    hold_usd: "0.0124",
    cost_usd: "0.0004215",
    free_usd: "0.0004215",
    balance_after_usd: "4.9795785",
    status: OK,
    error_code: null,
  },
};
