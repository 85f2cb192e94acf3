// Counts metrics from the journal, which has one entry for each authenticated call, so that no
// caller waits for the counting.

import type { Registry } from "prom-client";
import { isGenerative } from "../src/core/access/services.ts";
import type { Log } from "../src/core/log.ts";
import type { MetricName } from "../src/core/metrics.ts";
import { type Part, parseParts, partName } from "../src/core/money/usage.ts";
import {
  BoundedLabel,
  counter,
  gauge,
  histogram,
  TopCounter,
} from "../src/http/telemetry/metrics.ts";
import type { WriteOutcome } from "../src/store/ledger/ledger.ts";
import type { PreparedEntry } from "../src/store/ledger/prepared-entry.ts";
import type { Cell } from "../src/store/tables/unnest.ts";
import { CONTENT_REFUSED, type LogRow } from "../src/store/usage/log-rows.ts";
import type { Lag } from "./journal-lag.ts";

export interface JournalMetrics {
  readonly onWritten: (entries: WriteOutcome["written"]) => void;
  readonly onRejected: (entries: WriteOutcome["rejected"]) => void;
  readonly onFork: (bucket: number) => void;
}

export interface JournalMetricsDeps {
  readonly registry: Registry;
  /** Null while the lag is unknown. */
  readonly lag: () => Promise<Lag | null>;
  readonly openRejections: () => Promise<number>;
  readonly log: Pick<Log, "warn">;
}

const PROVIDERS_MAX = 100;
const MODELS_MAX = 200;
export const REFUSED_ACCOUNTS_MAX = 20;
const NANO_PER_USD = 1e9;

export function journalMetrics(deps: JournalMetricsDeps): JournalMetrics {
  const { registry } = deps;
  const entries = counter(registry, "farebox_journal_entries_total");
  const forks = counter(registry, "farebox_journal_forks_total");
  const rejected = counter(registry, "farebox_journal_rejected_total");
  const negative = counter(registry, "farebox_negative_balances_total");
  const latency = histogram(registry, "farebox_call_seconds");
  const refusals = new TopCounter(
    counter(registry, "farebox_content_refusals_total"),
    "account",
    REFUSED_ACCOUNTS_MAX,
  );
  const addSums = countSums(registry);
  const onChat = chatMetrics(registry);
  watchJournal(deps);

  function onEntry({ entry, log }: PreparedEntry, sums: EntrySums): void {
    if (entry === null) return;
    sums.overrun += entry.overrun;
    sums.writtenOff += entry.writtenOff;
    if (entry.type === "expired") sums.expired += 1;
    if (log === null) return;
    if (log.stop_reason === CONTENT_REFUSED) refusals.inc(entry.account);
    const service = String(log.service);
    const ofService = sumsOf(sums.services, service);
    // A late settlement may return money that the sweep took too much, and no counter can go back.
    ofService.charged += Math.max(0, Number(log.cost));
    if (log.upstream_cost !== null) {
      ofService.upstream = (ofService.upstream ?? 0) + Number(log.upstream_cost);
    }
    // Also for a late settlement: the sweep counted its call, but not the tokens.
    if (log.error_code === null && log.lane !== null && isGenerative(service)) {
      addTokens(sums, log);
      if (log.usage_source === "contradicted") sums.alarms.contradicted += 1;
      if (log.tier === "unknown") sums.alarms.unknown_tier += 1;
      onChat(log);
    }
    if (entry.type === "late") return;
    const { calls } = ofService;
    calls.set(log.status, (calls.get(log.status) ?? 0) + Number(log.requests));
    latency.observe({ service }, Number(log.latency_ms) / 1_000);
  }

  return {
    onWritten(written) {
      entries.inc(written.length);
      const services = new Map<string, ServiceSums>();
      const alarms = { contradicted: 0, unknown_tier: 0 };
      const counts = { overrun: 0n, writtenOff: 0n, expired: 0, tokens: null };
      const sums = { ...counts, alarms, services, tools: new Map(), tiers: new Map() };
      for (const entry of written) onEntry(entry, sums);
      addSums(sums);
    },
    onRejected(rejections) {
      rejected.inc(rejections.length);
      negative.inc(rejections.filter(({ prepared }) => prepared.isNegative).length);
    },
    onFork: () => forks.inc(),
  };
}

/**
 * The sums of one batch, which are added to the counters at once: a look-up of a counter by its
 * labels takes a third of a microsecond.
 */
interface EntrySums {
  overrun: bigint;
  writtenOff: bigint;
  expired: number;
  tokens: TokenSums | null;
  /** Usages that a person should look at, by the label of their counter. */
  readonly alarms: Record<"contradicted" | "unknown_tier", number>;
  readonly services: Map<string, ServiceSums>;
  /** The calls of providers' tools, and the calls in other tiers than the standard one. */
  readonly tools: Map<string, number>;
  readonly tiers: Map<string, number>;
}

interface ServiceSums {
  /** In nano-USD, like `upstream`. */
  charged: number;
  /** Null if no call has a known cost. */
  upstream: number | null;
  /** The numbers of calls by status. */
  readonly calls: Map<Cell, number>;
}

type TokenSums = Record<"input" | "cached" | "output", number> & Record<string, number>;

function addTokens(sums: EntrySums, log: LogRow): void {
  sums.tokens ??= { input: 0, cached: 0, output: 0 };
  const { tokens } = sums;
  tokens.input += Number(log.prompt_tokens);
  tokens.cached += Number(log.cached_tokens);
  tokens.output += Number(log.completion_tokens);
  if (log.tier !== null) addTo(sums.tiers, String(log.tier), 1);
  if (log.usage_parts === null) return;
  const { more = {}, fees = {}, reasoning } = parseParts(String(log.usage_parts));
  for (const part in more) {
    const name = partName(part as Part);
    tokens[name] = (tokens[name] ?? 0) + (more[part as keyof typeof more] ?? 0);
  }
  if (reasoning > 0) tokens.reasoning = (tokens.reasoning ?? 0) + reasoning;
  for (const [tool, { calls }] of Object.entries(fees)) addTo(sums.tools, tool, calls);
}

function addTo(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}

function sumsOf(services: EntrySums["services"], service: string): ServiceSums {
  let sums = services.get(service);
  if (sums === undefined) {
    sums = { charged: 0, upstream: null, calls: new Map() };
    services.set(service, sums);
  }
  return sums;
}

function countSums(registry: Registry): (sums: EntrySums) => void {
  const calls = counter(registry, "farebox_calls_total");
  const charged = counter(registry, "farebox_charged_usd_total");
  const upstream = counter(registry, "farebox_upstream_cost_usd_total");
  const overrun = counter(registry, "farebox_overrun_usd_total");
  const writtenOff = counter(registry, "farebox_written_off_usd_total");
  const expired = counter(registry, "farebox_expired_holds_total");
  const tokens = counter(registry, "farebox_tokens_total");
  const tools = counter(registry, "farebox_provider_tool_calls_total");
  const tiers = counter(registry, "farebox_tier_calls_total");
  const alarms = counter(registry, "farebox_usage_alarms_total");
  return (sums) => {
    overrun.inc(Number(sums.overrun) / NANO_PER_USD);
    writtenOff.inc(Number(sums.writtenOff) / NANO_PER_USD);
    expired.inc(sums.expired);
    for (const [type, count] of Object.entries(sums.tokens ?? {})) tokens.inc({ type }, count);
    for (const [tool, count] of sums.tools) tools.inc({ tool }, count);
    for (const [tier, count] of sums.tiers) tiers.inc({ tier }, count);
    for (const [kind, count] of Object.entries(sums.alarms)) {
      if (count > 0) alarms.inc({ kind }, count);
    }
    for (const [service, ofService] of sums.services) {
      charged.inc({ service }, ofService.charged / NANO_PER_USD);
      if (ofService.upstream !== null) upstream.inc({ service }, ofService.upstream / NANO_PER_USD);
      for (const [status, count] of ofService.calls) {
        calls.inc({ service, status: String(status) }, count);
      }
    }
  };
}

/** Measures each chat call that was answered. */
function chatMetrics(registry: Registry): (log: LogRow) => void {
  const firstToken = histogram(registry, "farebox_ttft_seconds");
  const usage = histogram(registry, "gen_ai_client_token_usage");
  const duration = histogram(registry, "gen_ai_server_request_duration");
  const ofRoute = counter(registry, "farebox_route_tokens_total");
  const providers = new BoundedLabel(PROVIDERS_MAX);
  const models = new BoundedLabel(MODELS_MAX);
  return (log) => {
    const provider = providers.of(String(log.lane));
    if (log.first_token_ms !== null) {
      firstToken.observe({ provider }, Number(log.first_token_ms) / 1_000);
    }
    const model = models.of(String(log.model));
    ofRoute.inc({ provider, model, type: "input" }, Number(log.prompt_tokens));
    ofRoute.inc({ provider, model, type: "cached" }, Number(log.cached_tokens));
    const of = { gen_ai_provider_name: provider, gen_ai_request_model: model };
    usage.observe({ ...of, gen_ai_token_type: "input" }, Number(log.prompt_tokens));
    usage.observe({ ...of, gen_ai_token_type: "output" }, Number(log.completion_tokens));
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
