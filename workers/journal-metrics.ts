// Metrics counted from the journal: each authenticated call is one entry of it, so the caller never
// waits for them.

import type { Counter, Registry } from "prom-client";
import type { Log } from "../src/core/log.ts";
import type { MetricName } from "../src/core/metrics.ts";
import { BoundedLabel, counter, gauge, histogram } from "../src/http/metrics.ts";
import type { WriteOutcome } from "../src/store/ledger.ts";
import type { LogRow } from "../src/store/log-rows.ts";
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

const PROVIDERS_MAX = 100;
const MODELS_MAX = 200;
const NANO_PER_USD = 1e9;

export function journalMetrics(deps: JournalMetricsDeps): JournalMetrics {
  const { registry } = deps;
  const calls = counter(registry, "farebox_calls_total");
  const charged = counter(registry, "farebox_charged_usd_total");
  const upstream = counter(registry, "farebox_upstream_cost_usd_total");
  const overrun = counter(registry, "farebox_overrun_usd_total");
  const writtenOff = counter(registry, "farebox_written_off_usd_total");
  const expired = counter(registry, "farebox_expired_holds_total");
  const entries = counter(registry, "farebox_journal_entries_total");
  const forks = counter(registry, "farebox_journal_forks_total");
  const rejected = counter(registry, "farebox_journal_rejected_total");
  const negative = counter(registry, "farebox_negative_balances_total");
  const latency = histogram(registry, "farebox_call_seconds");
  const onChat = chatMetrics(registry);
  watchJournal(deps);

  function onEntry({ entry, log }: PreparedEntry): void {
    if (entry === null) return;
    add(overrun, entry.overrun);
    add(writtenOff, entry.writtenOff);
    if (entry.type === "expired") expired.inc();
    if (log === null) return;
    const service = String(log.service);
    // A late settlement may give back what the sweep took too much, and no counter can go back.
    charged.inc({ service }, Math.max(0, Number(log.cost)) / NANO_PER_USD);
    if (log.upstream_cost !== null) {
      upstream.inc({ service }, Number(log.upstream_cost) / NANO_PER_USD);
    }
    // The sweep counted the tokens of this call as none, but the call itself.
    if (log.error_code === null && log.lane !== null && service === "models") onChat(log);
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

function add(metric: Counter, nanoUsd: bigint): void {
  metric.inc(Number(nanoUsd) / NANO_PER_USD);
}

/** What is counted of a chat call that was answered. */
function chatMetrics(registry: Registry): (log: LogRow) => void {
  const tokens = counter(registry, "farebox_tokens_total");
  const firstToken = histogram(registry, "farebox_ttft_seconds");
  const usage = histogram(registry, "gen_ai_client_token_usage");
  const duration = histogram(registry, "gen_ai_server_request_duration");
  const providers = new BoundedLabel(PROVIDERS_MAX);
  const models = new BoundedLabel(MODELS_MAX);
  return (log) => {
    const provider = providers.of(String(log.lane));
    const [input, output] = [Number(log.prompt_tokens), Number(log.completion_tokens)];
    tokens.inc({ type: "input" }, input);
    tokens.inc({ type: "cached" }, Number(log.cached_tokens));
    tokens.inc({ type: "output" }, output);
    if (log.first_token_ms !== null) {
      firstToken.observe({ provider }, Number(log.first_token_ms) / 1_000);
    }
    const of = {
      gen_ai_provider_name: provider,
      gen_ai_request_model: models.of(String(log.model)),
    };
    usage.observe({ ...of, gen_ai_token_type: "input" }, input);
    usage.observe({ ...of, gen_ai_token_type: "output" }, output);
    duration.observe(of, Number(log.latency_ms) / 1_000);
  };
}

/** Gauges of waiting entries and open rejections, read at each request for the metrics. */
function watchJournal({ registry, lag, openRejections, log }: JournalMetricsDeps): void {
  const watch = (name: MetricName<"gauge">, read: () => Promise<number | null>) =>
    gauge(registry, name, { read, log });
  let measured: Promise<Lag | null> = Promise.resolve(null);
  watch("farebox_journal_lag_entries", async () => {
    measured = lag();
    return (await measured)?.entries ?? null;
  });
  watch("farebox_journal_lag_seconds", async () => (await measured)?.oldestSeconds ?? null);
  watch("farebox_journal_rejected_open", openRejections);
}
