// Metrics of payments: what top-ups ended in, what events did, how far the inbox is behind, and
// what is disputed and owed.

import { Counter, Gauge, type Registry } from "prom-client";
import type { Log } from "../src/core/log.ts";
import { type NanoUsd, toDecimal } from "../src/core/money.ts";
import type { PaymentDeps } from "../src/payments/read-top-up.ts";
import { topUpCounter } from "../src/payments/top-up-metrics.ts";
import type { ProviderEvents } from "../src/store/provider-events.ts";

export interface PaymentMetricsDeps {
  readonly registry: Registry;
  readonly events: Pick<ProviderEvents, "backlog">;
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
  const { registry, events, now } = deps;
  const processed = new Counter({
    name: "farebox_payment_events_processed_total",
    help: "Attempts to process an event of the payment provider, by how they ended",
    labelNames: ["result"],
    registers: [registry],
  });
  measured(deps, {
    name: "farebox_payment_events_waiting",
    help: "Events of the payment provider that are not processed yet",
    read: async () => (await events.backlog()).waiting,
  });
  measured(deps, {
    name: "farebox_payment_event_lag_seconds",
    help: "Age of the oldest event that is not processed yet",
    read: async () => {
      const { oldest } = await events.backlog();
      return oldest === null ? 0 : Math.max(0, now() - oldest.getTime()) / 1_000;
    },
  });
  measured(deps, {
    name: "farebox_disputes_open",
    help: "Payments with an open dispute",
    read: deps.openDisputes,
  });
  measured(deps, {
    name: "farebox_owed_usd",
    help: "What accounts owe for reversed payments, as the ledger has it",
    read: async () => Number(toDecimal(await deps.owed())),
  });
  return {
    onEnded: topUpCounter(registry),
    onProcessed: (result) => processed.inc({ result }),
  };
}

interface Measured {
  readonly name: string;
  readonly help: string;
  readonly read: () => Promise<number>;
}

/** A gauge that reads its own value at each scrape, so that none is one scrape old. */
function measured({ registry, log }: PaymentMetricsDeps, { name, help, read }: Measured): void {
  const gauge = new Gauge({
    ...{ name, help, registers: [registry] },
    async collect() {
      try {
        this.set(await read());
      } catch (error) {
        log.warn({ metric: name, err: error }, "A metric of payments could not be measured");
      }
    },
  });
  gauge.set(0);
}
