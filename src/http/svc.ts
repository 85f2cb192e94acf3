// Builds the field `svc` of a reply that may cost something (schema `Cost` in reply-schema.ts).

import type { Settlement } from "../../actors/account.ts";
import { toJsonNumber } from "../core/money/money.ts";

/** The costs of a call that its caller gets. */
export type Paid = Pick<Settlement, "charged" | "free" | "stoppedBy" | "receipt">;

/** The members that every `svc` has, for JSON: one that is undefined is left out. */
export function svcOf(requestId: string, { charged, free, stoppedBy, receipt }: Paid) {
  return {
    request_id: requestId,
    cost_usd: toJsonNumber(charged),
    free_credit_usd: toJsonNumber(free),
    stopped_by: stoppedBy,
    receipt,
  };
}
