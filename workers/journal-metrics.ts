// Metrics counted from the journal: each authenticated call is one entry of it.

import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Log } from "../src/core/log.ts";
import type { WriteOutcome } from "../src/store/ledger.ts";
import type { PreparedEntry } from "../src/store/prepared-entry.ts";
import type { Lag } from "./journal-lag.ts";

export interface JournalMetrics {
  readonly onWritten: (entries: WriteOutcome["written"]) => void;
  readonly onRejected: (entries: WriteOutcome["rejected"]) => void;
  readonly onFork: (bucket: number) => void;
}

export interface JournalMetricsDeps {
  readonly registry: Registry;
  /** Null while it is unknown. */
  readonly lag: () => Promise<Lag | null>;
  readonly openRejections: () => Promise<number>;
  readonly log: Pick<Log, "warn">;
}

const LATENCY_BUCKETS_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 90, 300,
];

export function journalMetrics(deps: JournalMetricsDeps): JournalMetrics {
  const registers = [deps.registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `farebox_${name}`, help, labelNames, registers });
  const calls = counter("calls_total", "Authenticated calls", ["service", "status"]);
  const charged = counter("charged_usd_total", "Charged, in USD", ["service"]);
  const overrun = counter("overrun_usd_total", "Cost above its hold, never charged: our mistake");
  const writtenOff = counter("written_off_usd_total", "Cost that came too late to be charged");
  const entries = counter("journal_entries_total", "Journal entries moved to Postgres");
  const forks = counter("journal_forks_total", "Times a journal contradicted the ledger");
  const rejected = counter("journal_rejected_total", "Journal entries that Postgres refused");
  const negative = counter("negative_balances_total", "Entries with a balance below zero");
  const latency = new Histogram({
    name: "farebox_call_seconds",
    help: "Time from a call's arrival to its end",
    labelNames: ["service"],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers,
  });
  watchJournal(deps);

  function onEntry({ entry, log }: PreparedEntry): void {
    if (entry === null) return;
    overrun.inc(Number(entry.overrun) / 1e9);
    writtenOff.inc(Number(entry.writtenOff) / 1e9);
    if (log === null) return;
    const service = String(log.service);
    charged.inc({ service }, Number(log.cost) / 1e9);
    // The sweep has already written a row for this call, and each call counts once.
    if (entry.type === "late") return;
    calls.inc({ service, status: String(log.status) }, Number(log.requests));
    latency.observe({ service }, Number(log.latency_ms) / 1_000);
  }

  return {
    onWritten(written) {
      entries.inc(written.length);
      for (const entry of written) onEntry(entry);
    },
    onRejected(rejections) {
      rejected.inc(rejections.length);
      negative.inc(rejections.filter(({ prepared }) => prepared.isNegative).length);
    },
    onFork: () => forks.inc(),
  };
}

/** Gauges of waiting entries and open rejections, read at each request for the metrics. */
function watchJournal({ registry, lag, openRejections, log }: JournalMetricsDeps): void {
  const gauge = (name: string, help: string, read: () => Promise<number | null>) =>
    new Gauge({
      name: `farebox_${name}`,
      help,
      registers: [registry],
      async collect() {
        try {
          const value = await read();
          if (value !== null) this.set(value);
        } catch (error) {
          // The gauge keeps its last value; a store that is away must not delay the other metrics.
          log.warn({ metric: name, err: error }, "A metric could not be read");
        }
      },
    });
  let measured: Promise<Lag | null> = Promise.resolve(null);
  gauge("journal_lag_entries", "Journal entries that are not in Postgres yet", async () => {
    measured = lag();
    return (await measured)?.entries ?? null;
  });
  gauge("journal_lag_seconds", "How long the oldest of them has waited", async () => {
    return (await measured)?.oldestSeconds ?? null;
  });
  gauge("journal_rejected_open", "Rejected journal entries that nobody resolved", openRejections);
}
