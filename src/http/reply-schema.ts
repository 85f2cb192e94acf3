// Defines parts of replies that several services share.

import { named, text, usdAmount } from "./schema.ts";

export const requestId = text({
  pattern: "^req_[0-9A-Za-z]{22}$",
  description: "Also the header `x-request-id`",
});

export const costUsd = usdAmount("What was charged; also the header `x-svc-cost-usd`");

/** The field `svc` of a reply that may cost something. */
export const Cost = named("Cost", {
  request_id: requestId,
  cost_usd: costUsd,
  free_credit_usd: usdAmount("The part of it that free credit paid"),
});

/** The field `svc` of a reply that free credit never pays for, or that is free of charge. */
export const PlainCost = named("PlainCost", { request_id: requestId, cost_usd: costUsd });
