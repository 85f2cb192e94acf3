// Counts top-ups that ended, in whichever process stored their end.

import type { Registry } from "prom-client";
import { counter } from "../http/telemetry/metrics.ts";
import type { RefundReason } from "../store/payments/top-up-reading.ts";
import type { PaymentDeps } from "./read-top-up.ts";

const REASONS: readonly RefundReason[] = ["plan_late", "account_closed"];

/** Returns the function that counts each top-up that has ended. */
export function topUpCounter(registry: Registry): PaymentDeps["onEnded"] {
  const topUps = counter(registry, "farebox_topups_total");
  const refunds = counter(registry, "farebox_topups_to_refund_total");
  // Creates each series at zero, because an alert on an increase misses the first refund of a new
  // series.
  for (const reason of REASONS) refunds.inc({ reason }, 0);
  return ({ kind, status }, toRefund) => {
    topUps.inc({ kind, result: status });
    if (toRefund !== null) refunds.inc({ reason: toRefund });
  };
}
