// Makes the metrics of core/metrics.ts in the registry of a process.

import { Counter, Gauge, Histogram, type Metric, type Registry } from "prom-client";
import type { Log } from "../../core/log.ts";
import { METRICS, type MetricLabel, type MetricName } from "../../core/metrics.ts";
import { within } from "../../core/within.ts";

/** A counter of the list. */
export function counter<Name extends MetricName<"counter">>(
  registry: Registry,
  name: Name,
): Counter<MetricLabel<Name>> {
  const { help, labels } = METRICS[name];
  return new Counter({ name, help, labelNames: [...labels], registers: [registry] });
}

/** A histogram of the list, for values that are not counted while a caller waits. */
export function histogram<Name extends MetricName<"histogram">>(
  registry: Registry,
  name: Name,
): Histogram<MetricLabel<Name>> {
  const { help, labels, buckets } = METRICS[name];
  const names = [...labels];
  return new Histogram({ name, help, labelNames: names, buckets, registers: [registry] });
}

/** The value of a gauge: a number; null to keep the last number; or one number for each label. */
export type Reading = number | null | ReadonlyMap<string, number>;

export interface GaugeOptions {
  readonly read: () => Reading | Promise<Reading>;
  readonly log: Pick<Log, "warn">;
  /** A scrape waits this long for the reading; Prometheus waits ten seconds for all together. */
  readonly waitMs?: number;
}

const WAIT_MS = 4_000;

/**
 * A gauge of the list that reads its value at each scrape. If that fails or takes too long, the
 * gauge keeps its last value, so that a store that is away does not take the other metrics with it.
 * A slow reading serves the next scrapes as well.
 */
export function gauge<Name extends MetricName<"gauge">>(
  registry: Registry,
  name: Name,
  { read, log, waitMs = WAIT_MS }: GaugeOptions,
): void {
  const { help, labels } = METRICS[name];
  const [label = ""]: readonly string[] = labels;
  let reading: Promise<Reading> | null = null;
  const made = new Gauge<string>({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    async collect() {
      try {
        reading ??= Promise.try(read).finally(() => {
          reading = null;
        });
        const value = await within(waitMs, reading, () => new Error(`It took over ${waitMs} ms`));
        if (typeof value === "number") this.set(value);
        else if (value !== null) {
          this.reset();
          for (const [of, count] of value) this.set({ [label]: of }, count);
        }
      } catch (error) {
        log.warn({ metric: name, err: error }, "A metric could not be read");
      }
    },
  });
  if (labels.length === 0) made.set(0);
}

/** A gauge that is always 1 and carries its information in its labels. */
export function info<Name extends MetricName<"gauge">>(
  registry: Registry,
  name: Name,
  labels: Readonly<Record<MetricLabel<Name>, string>>,
): void {
  const labelNames = [...METRICS[name].labels];
  const made = new Gauge<string>({
    name,
    help: METRICS[name].help,
    labelNames,
    registers: [registry],
  });
  made.set(labels, 1);
}

/**
 * Label values that are not known beforehand: after `max` distinct values, all further ones are
 * `other`.
 */
export class BoundedLabel {
  readonly #known = new Set<string>();

  constructor(readonly max: number) {}

  of(value: string): string {
    if (this.#known.has(value)) return value;
    if (this.#known.size >= this.max) return "other";
    this.#known.add(value);
    return value;
  }
}

/**
 * A counter by a label of which only the values with the highest counts are shown (D-652). The
 * value with the lowest count becomes a part of `other`, so the sum over all values is whole.
 */
export class TopCounter<Label extends string> {
  readonly #counts = new Map<string, number>();

  constructor(
    readonly counter: Counter<Label>,
    readonly label: Label,
    readonly max: number,
  ) {}

  inc(value: string): void {
    const before = this.#counts.get(value);
    if (before === undefined && this.#counts.size >= this.max) this.#dropLowest();
    this.#counts.set(value, (before ?? 0) + 1);
    this.counter.inc(this.#of(value));
  }

  #dropLowest(): void {
    const [lowest] = [...this.#counts].sort(([, one], [, other]) => one - other);
    if (lowest === undefined) return;
    const [value, count] = lowest;
    this.#counts.delete(value);
    this.counter.remove(this.#of(value));
    this.counter.inc(this.#of("other"), count);
  }

  #of(value: string) {
    return { [this.label]: value } as Record<Label, string>;
  }
}

/** Counts durations in buckets. Counting one takes some ten nanoseconds: callers wait meanwhile. */
export class Durations {
  readonly counts: Float64Array;
  sum = 0;

  constructor(readonly buckets: readonly number[]) {
    this.counts = new Float64Array(buckets.length + 1);
  }

  observe(seconds: number): void {
    let bucket = 0;
    while (bucket < this.buckets.length && seconds > (this.buckets[bucket] ?? 0)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += seconds;
  }
}

/**
 * Registers durations as a histogram; `read` returns them by the value of the label, if it has one.
 */
export function durationMetric<Name extends MetricName<"histogram">>(
  registry: Registry,
  name: Name,
  read: () => Iterable<readonly [label: string, durations: Durations]>,
): void {
  const { help, labels } = METRICS[name];
  const [label]: readonly string[] = labels;
  const metric = {
    name,
    help,
    type: "histogram",
    aggregator: "sum",
    reset: () => {},
    get: async () => ({
      name,
      help,
      type: "histogram",
      aggregator: "sum",
      values: [...read()].flatMap(([of, durations]) =>
        samples(name, label === undefined ? {} : { [label]: of }, durations),
      ),
    }),
  };
  // The registry only uses these members; its type names the library's own classes.
  registry.registerMetric(metric as unknown as Metric);
}

function samples(name: string, labels: Readonly<Record<string, string>>, durations: Durations) {
  const { buckets, counts, sum } = durations;
  let count = 0;
  const values = [...counts].map((found, index) => {
    count += found;
    const le = index < buckets.length ? String(buckets[index]) : "+Inf";
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  return [
    ...values,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
