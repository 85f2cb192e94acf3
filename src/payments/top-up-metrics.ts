// Counts top-ups that ended, in whichever process stored their end.

import type { Registry } from "prom-client";
import { counter } from "../http/metrics.ts";
import type { PaymentDeps } from "./read-top-up.ts";

/** What a process calls for each top-up that has ended. */
export function topUpCounter(registry: Registry): PaymentDeps["onEnded"] {
  const topUps = counter(registry, "farebox_topups_total");
  return ({ kind, status }) => topUps.inc({ kind, result: status });
}
