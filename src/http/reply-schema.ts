// Defines parts of replies that several services share.

import { named, nullable, Type, text, usdAmount } from "./schema.ts";

export const requestId = text({
  pattern: "^req_[0-9A-Za-z]{22}$",
  description: "Also the header `x-request-id`",
});

export const costUsd = usdAmount("What was charged; also the header `x-svc-cost-usd`");

/** The receipt of a call in its reply. */
export const inlineReceipt = Type.Optional(
  nullable(
    text({
      description:
        "The signed receipt, if `x-svc-receipt` asked for it; null if the call was not final in " +
        "time: the receipt can be fetched then",
    }),
  ),
);

/** The field `svc` of a reply that may cost something. */
export const Cost = named("Cost", {
  request_id: requestId,
  cost_usd: costUsd,
  free_credit_usd: usdAmount("The part of it that free credit paid"),
  stopped_by: Type.Optional(
    Type.Literal("max_cost", {
      description: "Set if the reply reached the output limit that `x-svc-max-cost-usd` allows",
    }),
  ),
  receipt: inlineReceipt,
});

/** The field `svc` of a reply that free credit never pays for, or that is free of charge. */
export const PlainCost = named("PlainCost", { request_id: requestId, cost_usd: costUsd });
