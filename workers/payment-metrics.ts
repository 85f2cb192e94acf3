// Counts payments for the metrics: the ends of top-ups, the results of events, the lag of the
// inbox, and the disputed and owed amounts.

import type { Registry } from "prom-client";
import type { Log } from "../src/core/log.ts";
import type { MetricName } from "../src/core/metrics.ts";
import { type NanoUsd, toDecimal } from "../src/core/money/money.ts";
import { counter, gauge } from "../src/http/telemetry/metrics.ts";
import type { PaymentDeps } from "../src/payments/read-top-up.ts";
import { topUpCounter } from "../src/payments/top-up-metrics.ts";
import type { ProviderEvents } from "../src/store/payments/provider-events.ts";

export interface PaymentMetricsDeps {
  readonly registry: Registry;
  readonly events: Pick<ProviderEvents, "backlog">;
  /** The payment provider that is configured. */
  readonly provider: string;
  readonly openDisputes: () => Promise<number>;
  readonly owed: () => Promise<NanoUsd>;
  readonly now: () => number;
  readonly log: Pick<Log, "warn">;
}

export interface PaymentMetrics {
  readonly onEnded: PaymentDeps["onEnded"];
  readonly onProcessed: (result: "processed" | "failed") => void;
}

export function paymentMetrics(deps: PaymentMetricsDeps): PaymentMetrics {
  const { registry, events, provider, now, log } = deps;
  const processed = counter(registry, "farebox_payment_events_processed_total");
  const measured = (name: MetricName<"gauge">, read: () => Promise<number>) =>
    gauge(registry, name, { read, log });
  measured("farebox_payment_events_waiting", async () => {
    return (await events.backlog(provider)).waiting;
  });
  measured("farebox_payment_event_lag_seconds", async () => {
    const { oldest } = await events.backlog(provider);
    return oldest === null ? 0 : Math.max(0, now() - oldest.getTime()) / 1_000;
  });
  measured("farebox_disputes_open", deps.openDisputes);
  measured("farebox_owed_usd", async () => Number(toDecimal(await deps.owed())));
  return {
    onEnded: topUpCounter(registry),
    onProcessed: (result) => processed.inc({ result }),
  };
}
