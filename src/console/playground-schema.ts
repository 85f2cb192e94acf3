// Defines the requests of the playground, and the answer about the hold of a call.

import { WRITTEN_USD } from "../core/money/money.ts";
import { reply, usdSchema } from "../http/console/fields.ts";
import { anyObject, type Checked, oneOf, Type, text } from "../http/schema.ts";

/** The endpoints of the API that the playground calls, and their methods. */
export const PLAYGROUND_METHODS = {
  "/v1/chat/completions": "POST",
  "/v1/search": "POST",
  "/v1/maps": "GET",
  "/v1/mail/send": "POST",
  "/api/v1/chat/completions": "POST",
} as const;

export type PlaygroundPath = keyof typeof PLAYGROUND_METHODS;

export const PlaygroundBody = Type.Object(
  {
    path: oneOf(Object.keys(PLAYGROUND_METHODS) as PlaygroundPath[], {
      description: "The endpoint of the API",
    }),
    body: anyObject({ description: "Its body; for maps, the parameters of its query" }),
    max_cost_usd: Type.Optional(
      text({
        pattern: WRITTEN_USD,
        must: 'must be an amount of USD as text, such as "0.05"',
        description: "The most that the call may cost: its header `x-svc-max-cost-usd`",
        examples: ["0.05"],
      }),
    ),
  },
  { additionalProperties: false },
);
export type PlaygroundFields = Checked<typeof PlaygroundBody>;

/** The reply of the endpoint, as any client of the API receives it. */
export const PlaygroundAnswer = anyObject();

export const Estimate = reply({
  hold_usd: usdSchema("The most that the call can cost: so much is held while it runs"),
  spendable_usd: usdSchema("What a call can hold now"),
});
export type EstimateReply = Checked<typeof Estimate>;

export const ESTIMATE_EXAMPLE: EstimateReply = { hold_usd: "0.0082", spendable_usd: "43.18" };
