// Measures an API process. Counting while a caller waits costs some nanoseconds; all other values
// are read when the metrics are requested.

import type { Registry } from "prom-client";
import type { AccountActors } from "../../../actors/account-actors.ts";
import type { CallMeter } from "../../calls/call.ts";
import type { Log } from "../../core/log.ts";
import { METRICS } from "../../core/metrics.ts";
import type { UpstreamMeter } from "../../core/upstream-meter.ts";
import type { Pauses } from "../../store/operators/pauses.ts";
import type { SharedVersions } from "../health.ts";
import { BoundedLabel, counter, Durations, durationMetric, gauge } from "./metrics.ts";

/** The most providers with their own label; a configuration has fewer. */
const PROVIDERS_MAX = 100;

export interface ApiMetrics {
  readonly meter: CallMeter;
  readonly upstream: UpstreamMeter;
  /** Called with the duration of each script. */
  readonly onScript: (script: string, seconds: number) => void;
  /** Adds the values that are read from the parts of the process. */
  watch(parts: WatchedParts): void;
}

export interface WatchedParts {
  readonly accounts: Pick<AccountActors, "openCalls" | "leases">;
  readonly pauses: Pick<Pauses, "count">;
  /** The state of the providers' servers. */
  readonly board: Board;
  readonly versions: () => SharedVersions;
  readonly log: Pick<Log, "warn">;
}

/** One view for each model or action that was requested from a server. */
interface Board {
  servers(): readonly { readonly server: string; readonly isPassable: boolean }[];
}

/** Registers the metrics. */
export function apiMetrics(registry: Registry): ApiMetrics {
  const only = (
    name: "farebox_admit_seconds" | "farebox_settle_seconds" | "farebox_gateway_seconds",
  ) => {
    const durations = new Durations(METRICS[name].buckets);
    durationMetric(registry, name, () => [["", durations]]);
    return durations;
  };
  const admit = only("farebox_admit_seconds");
  const settle = only("farebox_settle_seconds");
  const own = only("farebox_gateway_seconds");
  const refused = counter(registry, "farebox_refused_total");
  const replays = counter(registry, "farebox_replays_total");
  const cuts = counter(registry, "farebox_streams_cut_total");
  return {
    meter: {
      own: (seconds) => own.observe(seconds),
      refused: (code) => refused.inc({ code }),
      replayed: () => replays.inc(),
      streamCut: (by) => cuts.inc({ by }),
    },
    ...upstreamMetrics(registry),
    onScript(script, seconds) {
      if (script === "admit") admit.observe(seconds);
      else if (script === "settle") settle.observe(seconds);
    },
  };
}

function upstreamMetrics(registry: Registry): Pick<ApiMetrics, "upstream" | "watch"> {
  const buckets = METRICS.farebox_upstream_seconds.buckets;
  const byProvider = new Map<string, Durations>();
  const names = new BoundedLabel(PROVIDERS_MAX);
  const errors = counter(registry, "farebox_upstream_errors_total");
  durationMetric(registry, "farebox_upstream_seconds", () => byProvider);
  const durationsOf = (provider: string): Durations => {
    const known = byProvider.get(provider) ?? new Durations(buckets);
    byProvider.set(provider, known);
    return known;
  };
  return {
    upstream: {
      attempted(name, result, seconds) {
        const provider = names.of(name);
        if (result === "ok") durationsOf(provider).observe(seconds);
        else if (result !== "aborted") errors.inc({ provider, kind: result });
      },
      brokeOff: (name, kind) => errors.inc({ provider: names.of(name), kind }),
    },
    watch({ accounts, pauses, board, versions, log }) {
      gauge(registry, "farebox_open_calls", { read: () => accounts.openCalls, log });
      const held = () => Number(accounts.leases.held) / 1e9;
      gauge(registry, "farebox_holds_usd", { read: held, log });
      gauge(registry, "farebox_paused_targets", { read: () => pauses.count, log });
      const running = { read: () => versions().configuration, log };
      gauge(registry, "farebox_configuration_version", running);
      gauge(registry, "farebox_documents_version", { read: () => versions().documents, log });
      gauge(registry, "farebox_provider_paused", { read: () => pausedOf(board, names), log });
    },
  };
}

/** Counts the models and actions for which each provider is given up now. */
function pausedOf(board: Board, names: BoundedLabel): ReadonlyMap<string, number> {
  const paused = new Map<string, number>();
  for (const { server, isPassable } of board.servers()) {
    const provider = names.of(server);
    paused.set(provider, (paused.get(provider) ?? 0) + (isPassable ? 0 : 1));
  }
  return paused;
}
