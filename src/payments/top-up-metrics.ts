// Counts top-ups that ended, in whichever process stored their end.

import { Counter, type Registry } from "prom-client";
import type { PaymentDeps } from "./read-top-up.ts";

/** What a process calls for each top-up that has ended. */
export function topUpCounter(registry: Registry): PaymentDeps["onEnded"] {
  const topUps = new Counter({
    name: "farebox_topups_total",
    help: "Top-ups that ended, by kind and result",
    labelNames: ["kind", "result"],
    registers: [registry],
  });
  return ({ kind, status }) => topUps.inc({ kind, result: status });
}
