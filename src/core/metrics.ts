// Defines every metric of Farebox: `GET /metrics`, the table of docs/metrics.md, and the checks of
// alerts and boards follow from this list. Labels have few values, never a caller's words, and an
// account only where its metric names those with the highest counts.

interface MetricRow {
  readonly type: "counter" | "gauge" | "histogram";
  /** The processes that have the metric. */
  readonly of: "api" | "worker" | "both";
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

const SCRIPT_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const OWN_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 90, 300];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** By name. */
export const METRICS = {
  farebox_build_info: {
    type: "gauge",
    of: "both",
    labels: ["version", "runtime"],
    help: "Always 1; the labels say what runs",
  },
  farebox_open_calls: {
    type: "gauge",
    of: "api",
    labels: [],
    help: "Calls of this process that hold money now",
  },
  farebox_holds_usd: {
    type: "gauge",
    of: "api",
    labels: [],
    help: "What the open calls of this process hold, in USD",
  },
  farebox_refused_total: {
    type: "counter",
    of: "api",
    labels: ["code"],
    help: "Requests that were answered with an error, by its code",
  },
  farebox_replays_total: {
    type: "counter",
    of: "api",
    labels: [],
    help:
      "Requests that got the kept answer of an earlier one, by their Idempotency-Key; those that " +
      "conflicted with it are in `farebox_refused_total`",
  },
  farebox_streams_cut_total: {
    type: "counter",
    of: "api",
    labels: ["by"],
    help:
      "Streams that were ended because their text cost the whole `cap` of the caller, or the " +
      "whole `hold`: their servers went on after the output limit that was sent to them",
  },
  farebox_admit_seconds: {
    type: "histogram",
    of: "api",
    labels: [],
    buckets: SCRIPT_SECONDS,
    help: "Time that Redis took to answer an admission",
  },
  farebox_settle_seconds: {
    type: "histogram",
    of: "api",
    labels: [],
    buckets: SCRIPT_SECONDS,
    help: "Time that Redis took to answer a settlement",
  },
  farebox_gateway_seconds: {
    type: "histogram",
    of: "api",
    labels: [],
    buckets: OWN_SECONDS,
    help: "Our own time of an answered call: from its arrival, without waiting for providers",
  },
  farebox_upstream_seconds: {
    type: "histogram",
    of: "api",
    labels: ["provider"],
    buckets: CALL_SECONDS,
    help: "Time until a provider answered: with a whole reply, or the first chunk of a stream",
  },
  farebox_upstream_errors_total: {
    type: "counter",
    of: "api",
    labels: ["provider", "kind"],
    help:
      "Requests that a provider did not serve, or whose stream it broke off; `refused` if it " +
      "blamed the request, `access` if it refused the key or the account",
  },
  farebox_provider_paused: {
    type: "gauge",
    of: "api",
    labels: ["provider"],
    help: "Models and actions for which this process leaves the provider out after failures",
  },
  farebox_paused_targets: {
    type: "gauge",
    of: "api",
    labels: [],
    help: "Services and models that an operator paused",
  },
  farebox_configuration_version: {
    type: "gauge",
    of: "api",
    labels: [],
    help: "Version of the applied configuration that this process runs; 0 for its own file",
  },
  farebox_documents_version: {
    type: "gauge",
    of: "api",
    labels: [],
    help: "Version of the documents of `index add` that this process searches; 0 for none",
  },
  farebox_calls_total: {
    type: "counter",
    of: "worker",
    labels: ["service", "status"],
    help: "Authenticated calls",
  },
  farebox_call_seconds: {
    type: "histogram",
    of: "worker",
    labels: ["service"],
    buckets: CALL_SECONDS,
    help: "Time from a call's arrival to its end",
  },
  farebox_ttft_seconds: {
    type: "histogram",
    of: "worker",
    labels: ["provider"],
    buckets: CALL_SECONDS,
    help: "Time from a streamed call's arrival to its first token",
  },
  farebox_tokens_total: {
    type: "counter",
    of: "worker",
    labels: ["type"],
    help:
      "Tokens of charged calls: `input` and `output`, of these `cached` and `reasoning`, and " +
      "parts with prices of their own, such as `cache_write_5m`",
  },
  farebox_provider_tool_calls_total: {
    type: "counter",
    of: "worker",
    labels: ["tool"],
    help: "Calls of the tools of providers in charged calls, such as `web_search`",
  },
  farebox_tier_calls_total: {
    type: "counter",
    of: "worker",
    labels: ["tier"],
    help: "Charged calls of models that a provider served in another tier than its standard one",
  },
  farebox_route_tokens_total: {
    type: "counter",
    of: "worker",
    labels: ["provider", "model", "type"],
    help:
      "Prompt tokens of charged chat calls by the route that served them: all as `input`, and of " +
      "these `cached` from its cache",
  },
  farebox_usage_alarms_total: {
    type: "counter",
    of: "worker",
    labels: ["kind"],
    help: "Chat calls whose usage contradicted itself, or that an unknown tier served",
  },
  farebox_content_refusals_total: {
    type: "counter",
    of: "worker",
    labels: ["account"],
    help:
      "Chat calls that providers refused for their content; the 20 accounts with the most, and " +
      "`other`",
  },
  farebox_charged_usd_total: {
    type: "counter",
    of: "worker",
    labels: ["service"],
    help: "Charged, in USD; what late settlements gave back is not taken off",
  },
  farebox_upstream_cost_usd_total: {
    type: "counter",
    of: "worker",
    labels: ["service"],
    help: "What calls with a buying price cost upstream, in USD",
  },
  farebox_overrun_usd_total: {
    type: "counter",
    of: "worker",
    labels: [],
    help: "Cost above its hold, never charged: what a server reported beyond it",
  },
  farebox_written_off_usd_total: {
    type: "counter",
    of: "worker",
    labels: [],
    help: "Cost that came too late to be charged",
  },
  farebox_expired_holds_total: {
    type: "counter",
    of: "worker",
    labels: [],
    help: "Holds that the sweep settled because their process was gone",
  },
  farebox_journal_entries_total: {
    type: "counter",
    of: "worker",
    labels: [],
    help: "Journal entries moved to Postgres",
  },
  farebox_journal_forks_total: {
    type: "counter",
    of: "worker",
    labels: [],
    help: "Times a journal contradicted the ledger",
  },
  farebox_journal_rejected_total: {
    type: "counter",
    of: "worker",
    labels: [],
    help: "Journal entries that Postgres refused",
  },
  farebox_journal_rejected_open: {
    type: "gauge",
    of: "worker",
    labels: [],
    help: "Rejected journal entries that nobody resolved",
  },
  farebox_negative_balances_total: {
    type: "counter",
    of: "worker",
    labels: [],
    help: "Entries with a balance below zero",
  },
  farebox_journal_lag_entries: {
    type: "gauge",
    of: "worker",
    labels: [],
    help: "Journal entries that are not in Postgres yet",
  },
  farebox_journal_lag_seconds: {
    type: "gauge",
    of: "worker",
    labels: [],
    help: "How long the oldest of them has waited",
  },
  farebox_topups_total: {
    type: "counter",
    of: "both",
    labels: ["kind", "result"],
    help: "Top-ups that ended, by kind and result",
  },
  farebox_topups_to_refund_total: {
    type: "counter",
    of: "both",
    labels: ["reason"],
    help: "Top-ups that an operator should refund: for a plan too late, or a closed account",
  },
  farebox_payment_events_total: {
    type: "counter",
    of: "api",
    labels: ["type", "result"],
    help: "Events that the payment provider sent, by type and what became of them",
  },
  farebox_payment_events_processed_total: {
    type: "counter",
    of: "worker",
    labels: ["result"],
    help: "Attempts to process an event of the payment provider, by how they ended",
  },
  farebox_payment_events_waiting: {
    type: "gauge",
    of: "worker",
    labels: [],
    help: "Events of the payment provider that are not processed yet",
  },
  farebox_payment_event_lag_seconds: {
    type: "gauge",
    of: "worker",
    labels: [],
    help: "Age of the oldest event that is not processed yet",
  },
  farebox_disputes_open: {
    type: "gauge",
    of: "worker",
    labels: [],
    help: "Payments with an open dispute",
  },
  farebox_owed_usd: {
    type: "gauge",
    of: "worker",
    labels: [],
    help: "What accounts owe for reversed payments, as the ledger has it",
  },
  farebox_mail_attempts_total: {
    type: "counter",
    of: "worker",
    labels: ["outcome"],
    help: "Attempts to hand a message to the mail server, by how they ended",
  },
  farebox_service_mails_total: {
    type: "counter",
    of: "worker",
    labels: ["kind", "result"],
    help: "Attempts to send a mail of the service itself, by its kind and how they ended",
  },
  farebox_service_mails_waiting: {
    type: "gauge",
    of: "worker",
    labels: [],
    help: "Mails of the service itself that are not sent yet",
  },
  farebox_webhooks_total: {
    type: "counter",
    of: "worker",
    labels: ["result"],
    help: "Attempts to deliver an event to a customer's webhook; `failed` after the last one",
  },
  farebox_webhooks_waiting: {
    type: "gauge",
    of: "worker",
    labels: [],
    help: "Events that wait for their delivery to a customer's webhook",
  },
  farebox_webhooks_disabled_total: {
    type: "counter",
    of: "worker",
    labels: ["why"],
    help: "Webhooks of customers that were disabled: `gone` by 410, `failing` after 24 hours",
  },
  farebox_burn_alarms_total: {
    type: "counter",
    of: "worker",
    labels: ["action"],
    help: "Keys that a burn-rate rule found to spend fast: `alert`, `slow` or `pause`",
  },
  gen_ai_client_token_usage: {
    type: "histogram",
    of: "worker",
    buckets: TOKENS,
    labels: ["gen_ai_token_type", "gen_ai_provider_name", "gen_ai_request_model"],
    help: "Tokens of a chat call, by OpenTelemetry's name",
  },
  gen_ai_server_request_duration: {
    type: "histogram",
    of: "worker",
    buckets: CALL_SECONDS,
    labels: ["gen_ai_provider_name", "gen_ai_request_model"],
    help: "Seconds of a chat call, by OpenTelemetry's name",
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

type Metrics = typeof METRICS;
/** The names of the metrics of a type. */
export type MetricName<Type extends MetricRow["type"]> = {
  [Name in keyof Metrics]: Metrics[Name]["type"] extends Type ? Name : never;
}[keyof Metrics];
/** The names of a metric's labels. */
export type MetricLabel<Name extends keyof Metrics> = Metrics[Name]["labels"][number];
