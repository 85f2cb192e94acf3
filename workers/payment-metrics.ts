// Metrics of payments: what top-ups ended in, what events did, and how far the inbox is behind.

import { Counter, Gauge, type Registry } from "prom-client";
import type { Log } from "../src/core/log.ts";
import type { ProviderEvents } from "../src/store/provider-events.ts";
import type { TopUp } from "../src/store/top-ups.ts";

export interface PaymentMetricsDeps {
  readonly registry: Registry;
  readonly events: Pick<ProviderEvents, "backlog">;
  readonly openDisputes: () => Promise<number>;
  readonly now: () => number;
  readonly log: Pick<Log, "warn">;
}

export interface PaymentMetrics {
  readonly onEnded: (topUp: Pick<TopUp, "kind" | "status">) => void;
  readonly onProcessed: (result: "processed" | "failed") => void;
}

export function paymentMetrics(deps: PaymentMetricsDeps): PaymentMetrics {
  const registers = [deps.registry];
  const topUps = new Counter({
    name: "farebox_top_ups_total",
    help: "Top-ups that ended, by kind and result",
    labelNames: ["kind", "result"],
    registers,
  });
  const processed = new Counter({
    name: "farebox_payment_events_processed_total",
    help: "Attempts to process an event of the payment provider, by how they ended",
    labelNames: ["result"],
    registers,
  });
  const waiting = new Gauge({
    name: "farebox_payment_events_waiting",
    help: "Events of the payment provider that are not processed yet",
    registers,
  });
  const disputes = new Gauge({
    name: "farebox_disputes_open",
    help: "Payments with an open dispute",
    registers,
  });
  const lag = new Gauge({
    name: "farebox_payment_event_lag_seconds",
    help: "Age of the oldest event that is not processed yet",
    registers,
    async collect() {
      try {
        const backlog = await deps.events.backlog();
        waiting.set(backlog.waiting);
        disputes.set(await deps.openDisputes());
        const { oldest } = backlog;
        this.set(oldest === null ? 0 : Math.max(0, deps.now() - oldest.getTime()) / 1_000);
      } catch (error) {
        deps.log.warn({ err: error }, "The inbox of payments could not be measured");
      }
    },
  });
  lag.set(0);
  return {
    onEnded: ({ kind, status }) => topUps.inc({ kind, result: status }),
    onProcessed: (result) => processed.inc({ result }),
  };
}
