// Examples of moderations for the documentation; tests send them.

import type { Example } from "../../../../http/endpoint-info.ts";

/** The model of the examples. There is no built-in model of this kind. */
export const EXAMPLE_MODERATOR = "moderator-1";

/** Examples of moderations. */
export function moderationsExamples(): readonly Example[] {
  const request_id = "req_0351Ki6Po6Ze8c7RSniYDy";
  const svc = { request_id, cost_usd: 0 };
  return [
    {
      summary: "A harmless text",
      body: { model: EXAMPLE_MODERATOR, input: "What is a hold?" },
      reply: {
        id: request_id,
        model: EXAMPLE_MODERATOR,
        results: [
          {
            flagged: false,
            categories: { harassment: false, violence: false },
            category_scores: { harassment: 0.0004, violence: 0.0001 },
          },
        ],
        svc,
      },
    },
  ];
}
