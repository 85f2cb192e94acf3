// Figures that the journal tells as it passes: each authenticated call is one entry of it.

import { Counter, Histogram, type Registry } from "prom-client";
import type { CallMetadata, JournalEntry } from "../src/core/journal.ts";
import { logRowOf } from "../src/store/log-rows.ts";

export interface JournalMetrics {
  readonly onWritten: (entries: readonly JournalEntry[]) => void;
  readonly onFork: (bucket: number) => void;
}

const LATENCY_BUCKETS_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 90, 300,
];

export function journalMetrics(registry: Registry): JournalMetrics {
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `farebox_${name}`, help, labelNames, registers });
  const calls = counter("calls_total", "Authenticated calls", ["service", "status"]);
  const charged = counter("charged_usd_total", "Charged, in USD", ["service"]);
  const overrun = counter("overrun_usd_total", "Cost above its hold, never charged: our mistake");
  const writtenOff = counter("written_off_usd_total", "Cost that came too late to be charged");
  const entries = counter("journal_entries_total", "Journal entries moved to Postgres");
  const forks = counter("journal_forks_total", "Times a journal contradicted the ledger");
  const latency = new Histogram({
    name: "farebox_call_seconds",
    help: "Time from a call's arrival to its end",
    labelNames: ["service"],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers,
  });

  function onEntry(entry: JournalEntry): void {
    overrun.inc(Number(entry.overrun) / 1e9);
    writtenOff.inc(Number(entry.writtenOff) / 1e9);
    if (entry.facts === "") return;
    const { service } = JSON.parse(entry.facts) as CallMetadata;
    const row = logRowOf(entry, { account: 0, key: 0 });
    calls.inc({ service, status: row.status }, row.requests);
    charged.inc({ service }, Number(row.cost) / 1e9);
    latency.observe({ service }, row.latencyMs / 1_000);
  }

  return {
    onWritten(written) {
      entries.inc(written.length);
      for (const entry of written) onEntry(entry);
    },
    onFork: () => forks.inc(),
  };
}
