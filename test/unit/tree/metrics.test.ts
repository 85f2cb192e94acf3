// Checks that alerts and the board name only existing metrics and labels, and that processes have
// exactly the metrics of the list.

import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { METRICS } from "../../../src/core/metrics.ts";
import { apiMetrics } from "../../../src/http/telemetry/api-metrics.ts";
import {
  BoundedLabel,
  counter,
  Durations,
  TopCounter,
} from "../../../src/http/telemetry/metrics.ts";
import { createRegistry } from "../../../src/http/telemetry/metrics-server.ts";
import { journalMetrics } from "../../../workers/journal-metrics.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { parsePromql } from "../../support/product/promql.ts";

const PROJECT = join(import.meta.dir, "../../..");
const BOARDS = join(PROJECT, "deploy/grafana/dashboards");
/** Labels that Prometheus itself adds. */
const SCRAPED = ["job", "instance", "process"];

interface Rules {
  readonly groups: readonly { readonly rules: readonly { alert: string; expr: string }[] }[];
}
interface Board {
  readonly uid: string;
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly datasource?: { readonly uid: string };
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

const read = (path: string) => readFileSync(join(PROJECT, path), "utf8");
const boards = readdirSync(BOARDS).map(
  (name) => JSON.parse(read(`deploy/grafana/dashboards/${name}`)) as Board,
);
const rules = (Bun.YAML.parse(read("deploy/prometheus/alerts.yml")) as Rules).groups.flatMap(
  (group) => group.rules,
);
const expressions = [
  ...rules.map(({ alert, expr }) => ({ of: alert, expr, legend: "" })),
  ...boards.flatMap(({ panels }) =>
    panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr, legendFormat: legend }) => ({ of: title, expr, legend })),
    ),
  ),
];

/** The labels of every series that can be queried, by its name. */
async function series(): Promise<ReadonlyMap<string, readonly string[]>> {
  const all = new Map<string, readonly string[]>([["up", SCRAPED]]);
  for (const metric of await createRegistry("api").getMetricsAsJSON()) {
    all.set(metric.name, SCRAPED);
  }
  for (const [name, { type, labels }] of Object.entries(METRICS)) {
    const own = [...labels, ...SCRAPED];
    if (type !== "histogram") all.set(name, own);
    else {
      all.set(`${name}_bucket`, [...own, "le"]);
      for (const end of ["sum", "count"]) all.set(`${name}_${end}`, own);
    }
  }
  return all;
}

const known = await series();

/** The faults of an expression. */
function faultsOf(expr: string, legend = ""): string[] {
  const { selectors, grouping } = parsePromql(expr.replaceAll("$__rate_interval", "5m"));
  const shown = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
  const faults = selectors.length === 0 ? ["no metric"] : [];
  for (const { metric, labels } of selectors) {
    const has = known.get(metric);
    if (has === undefined) faults.push(metric);
    for (const label of [...labels, ...grouping]) {
      if (has !== undefined && !has.includes(label)) faults.push(`${metric}{${label}}`);
    }
  }
  // A legend can show only labels that the expression keeps.
  return [...faults, ...shown.filter((label) => !grouping.includes(label))];
}

test("every expression of alerts and boards names metrics and labels that exist", () => {
  expect(expressions.length).toBeGreaterThan(50);
  const faults = expressions.map(({ of, expr, legend }) => ({
    of,
    faults: faultsOf(expr, legend),
  }));
  expect(faults.filter((one) => one.faults.length > 0)).toEqual([]);
});

test("an expression that names a missing metric or label is found", () => {
  expect(faultsOf("sum(rate(farebox_call_total[5m]))")).toEqual(["farebox_call_total"]);
  expect(faultsOf('farebox_calls_total{code="x"}')).toEqual(["farebox_calls_total{code}"]);
  const grouped = "sum by (account) (farebox_calls_total)";
  expect(faultsOf(grouped)).toEqual(["farebox_calls_total{account}"]);
  expect(faultsOf("sum by (service) (farebox_calls_total)", "{{status}}")).toEqual(["status"]);
  expect(faultsOf("rate(farebox_call_seconds[5m])")).toEqual(["farebox_call_seconds"]);
  expect(() => faultsOf("sum(rate(farebox_calls_total[5m])")).toThrow(SyntaxError);
});

test("every metric of ours is on the board, and its panels read our data source", () => {
  const text = JSON.stringify(boards);
  expect(Object.keys(METRICS).filter((name) => !text.includes(name))).toEqual([]);
  const source = read("deploy/grafana/provisioning/datasources/prometheus.yaml");
  const { datasources } = Bun.YAML.parse(source) as { datasources: { uid: string }[] };
  for (const { panels } of boards) {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const uids = panels.flatMap(({ datasource }) => datasource?.uid ?? []);
    expect(new Set(uids)).toEqual(new Set(datasources.map(({ uid }) => uid)));
  }
});

test("processes register each metric as the list describes it, with its labels", async () => {
  const api = createRegistry("api");
  apiMetrics(api).watch({
    accounts: { openCalls: 2, leases: { held: 1_500_000_000n } as never },
    pauses: { count: 0 },
    board: { servers: () => [] },
    log: silent,
    versions: () => ({ configuration: 3, documents: 12 }),
  });
  const worker = createRegistry("worker");
  const none = async () => 0;
  journalMetrics({ registry: worker, lag: async () => null, openRejections: none, log: silent });
  const ours = async (registry: typeof api) =>
    (await registry.getMetricsAsJSON()).filter(({ name }) => /^(farebox|gen_ai)_/.test(name));
  for (const [process, registry] of [
    ["api", api],
    ["worker", worker],
  ] as const) {
    for (const { name, help } of await ours(registry)) {
      const row = Object.entries(METRICS).find(([known]) => known === name)?.[1];
      expect([name, row?.help, ["both", process].includes(row?.of ?? "")]).toEqual([
        name,
        help,
        true,
      ]);
    }
  }
  expect(await api.metrics()).toContain('farebox_holds_usd{process="api"} 1.5\n');
});

test("a provider counts as paused for each model or action that it is given up for", async () => {
  const registry = createRegistry("api");
  const view = (server: string, isPassable: boolean) => ({ server, isPassable });
  const servers = () => [
    view("one", false),
    view("one", false),
    view("one", true),
    view("two", true),
  ];
  apiMetrics(registry).watch({
    accounts: { openCalls: 0, leases: { held: 0n } as never },
    pauses: { count: 0 },
    board: { servers },
    log: silent,
    versions: () => ({ configuration: 0, documents: 0 }),
  });
  const text = await registry.metrics();
  expect(text).toMatch(/^farebox_provider_paused\{.*provider="one".*\} 2$/m);
  expect(text).toMatch(/^farebox_provider_paused\{.*provider="two".*\} 0$/m);
});

test("durations are a histogram in Prometheus's form", async () => {
  const registry = createRegistry("api");
  const { onScript, upstream, meter } = apiMetrics(registry);
  onScript("admit", 0.0004);
  onScript("admit", 0.002);
  onScript("admit", 7);
  onScript("sweep", 1);
  upstream.attempted("main", "ok", 0.3);
  upstream.attempted("main", "failed", 0.3);
  upstream.attempted("main", "aborted", 0.3);
  meter.own(0.0015);
  meter.refused("rate_limit_exceeded");
  const text = await registry.metrics();
  expect(text).toContain("# TYPE farebox_admit_seconds histogram");
  const lines = text.split("\n").filter((line) => line.startsWith("farebox_admit_seconds"));
  expect(lines.map((line) => line.replace(/^.*(?:_bucket|_seconds)/, ""))).toEqual(
    expect.arrayContaining([
      '{le="0.0005",process="api"} 1',
      '{le="0.002",process="api"} 2',
      '{le="1",process="api"} 2',
      '{le="+Inf",process="api"} 3',
      '_count{process="api"} 3',
    ]),
  );
  expect(text).toContain(
    'farebox_upstream_seconds_bucket{provider="main",le="0.5",process="api"} 1',
  );
  expect(text).toContain(
    'farebox_upstream_errors_total{provider="main",kind="failed",process="api"} 1',
  );
  expect(text).not.toContain('kind="aborted"');
  expect(text).toContain('farebox_refused_total{code="rate_limit_exceeded",process="api"} 1');
});

test("label values beyond the bound are combined", () => {
  const label = new BoundedLabel(2);
  expect(["a", "b", "c", "a", "d"].map((value) => label.of(value))).toEqual([
    "a",
    "b",
    "other",
    "a",
    "other",
  ]);
  expect(new Durations([1]).counts.length).toBe(2);
});

test("a label shows the values with the highest counts, and their sum stays whole", async () => {
  const registry = createRegistry("worker");
  const counted = counter(registry, "farebox_content_refusals_total");
  const top = new TopCounter(counted, "account", 2);
  const counts = async () => {
    const { values } = await counted.get();
    return Object.fromEntries(values.map(({ labels, value }) => [labels.account, value]));
  };
  for (const account of ["loud", "loud", "loud", "a", "a"]) top.inc(account);
  expect(await counts()).toEqual({ loud: 3, a: 2 });
  for (const account of ["b", "c", "d"]) top.inc(account);
  expect(await counts()).toEqual({ loud: 3, d: 1, other: 4 });
});
