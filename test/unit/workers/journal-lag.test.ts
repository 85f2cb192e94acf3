import { expect, test } from "bun:test";
import { newTimedId } from "../../../src/core/ids.ts";
import { type Outcome, outcomeText } from "../../../src/core/journal/journal.ts";
import { usd } from "../../../src/core/money/money.ts";
import { createRegistry } from "../../../src/http/telemetry/metrics-server.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { JournalLag, type Lag } from "../../../workers/journal-lag.ts";
import { journalMetrics } from "../../../workers/journal-metrics.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { random } from "../../support/random.ts";
import { AT_MS, openJournalLab } from "../../support/stores/journal-lab.ts";

const CENT = usd("0.01");

type Lab = Awaited<ReturnType<typeof openJournalLab>>;

/** The metrics of a worker that flushes the journal of this lab. */
function metricsOf({ rejected }: Lab, lag: Lag | null = null) {
  const registry = createRegistry("worker");
  const openRejections = () => rejected.countOpen();
  const metrics = journalMetrics({ registry, lag: async () => lag, openRejections, log: silent });
  return { registry, metrics };
}

test("the lag counts waiting entries and their age, even while Postgres is silent", async () => {
  await using lab = await openJournalLab();
  let nowMs = AT_MS;
  let isAway = false;
  const ledger = new Ledger(lab.database);
  const cursors = () => (isAway ? Promise.reject(new Error("away")) : ledger.cursors());
  const lag = new JournalLag({
    redis: lab.redis,
    ledger: { cursors },
    now: () => nowMs,
    after: () => () => {},
  });
  const account = await lab.account(7);
  await lab.flush();
  expect(await lag.measure()).toEqual({ entries: 0, oldestSeconds: 0 });
  // An entry names the start of its call; it was written 12 ms later.
  await account.call(CENT);
  await account.call(CENT, { atMs: AT_MS - 900 });
  nowMs += 5_012;
  isAway = true;
  expect(await lag.measure()).toEqual({ entries: 2, oldestSeconds: 5 });
  isAway = false;
  await lab.flush();
  expect(await lag.measure()).toEqual({ entries: 0, oldestSeconds: 0 });
});

test("an entry without a time of writing is as old as it has been seen", async () => {
  await using lab = await openJournalLab();
  let nowMs = AT_MS + 90_000;
  const ledger = new Ledger(lab.database);
  const lag = new JournalLag({
    redis: lab.redis,
    ledger,
    now: () => nowMs,
    after: () => () => {},
  });
  const account = await lab.account(7);
  await lab.flush();
  await account.call(CENT, { type: "expired" });
  expect(await lag.measure()).toEqual({ entries: 1, oldestSeconds: 0 });
  nowMs += 4_000;
  expect(await lag.measure()).toEqual({ entries: 1, oldestSeconds: 4 });
});

test("metrics name rejections, negative balances and the lag", async () => {
  await using lab = await openJournalLab();
  const { registry, metrics } = metricsOf(lab, { entries: 3, oldestSeconds: 1.5 });
  const account = await lab.account(7);
  await account.call(CENT);
  await account.call(CENT, { paidAfter: usd("-1") });
  await account.call(CENT, { metadata: "{" });
  await lab.flush(metrics);
  const text = await registry.metrics();
  const metric = (name: string) => {
    const line = text.split("\n").find((row) => row.startsWith(`farebox_${name}{`));
    return Number(line?.split(" ").at(-1));
  };
  expect(metric("journal_rejected_total")).toBe(2);
  expect(metric("journal_rejected_open")).toBe(2);
  expect(metric("negative_balances_total")).toBe(1);
  expect(metric("journal_lag_entries")).toBe(3);
  expect(metric("journal_lag_seconds")).toBe(1.5);
  expect(metric("calls_total")).toBe(1);
});

test("an amount that a late settlement gives back lets the others of its flush count", async () => {
  await using lab = await openJournalLab();
  const { registry, metrics } = metricsOf(lab);
  const account = await lab.account(7);
  const request = newTimedId("request", random, AT_MS);
  await account.call(CENT, { type: "expired", request });
  await account.call(usd("-0.004"), { type: "late", request, held: CENT });
  await account.call(CENT);
  await account.call(CENT, { metadata: "{" });
  await lab.flush(metrics);
  const costs = new Set((await account.log()).map(({ cost }) => cost));
  expect(costs).toEqual(new Set([usd("0.006"), CENT]));
  const text = await registry.metrics();
  // Prometheus treats a counter that goes back as one that started again.
  expect(text).toMatch(/^farebox_charged_usd_total\{.*\} 0\.02$/m);
  expect(text).toMatch(/^farebox_journal_rejected_total\{.*\} 1$/m);
});

test("doubtful usages are counted by their kind, and no other usage is", async () => {
  await using lab = await openJournalLab();
  const { registry, metrics } = metricsOf(lab);
  const account = await lab.account(7);
  const alarms = async () => {
    const lines = (await registry.metrics()).split("\n");
    const counted = lines.filter((line) => line.startsWith("farebox_usage_alarms_total{"));
    return counted.map((line) => [/kind="(\w+)"/.exec(line)?.[1], Number(line.split(" ").at(-1))]);
  };
  const chat = (usageDetails?: Outcome["usageDetails"]) => ({
    outcome: outcomeText({
      status: 200,
      errorCode: null,
      latencyMs: 5,
      firstTokenMs: null,
      promptTokens: 60,
      cachedTokens: 0,
      completionTokens: 50,
      requests: 1,
      lane: "stub",
      usageDetails,
    }),
  });
  await account.call(CENT, chat());
  await account.call(CENT, chat({ source: "counted" }));
  await account.call(CENT, chat({ tier: "priority" }));
  await lab.flush(metrics);
  expect(await alarms()).toEqual([]);
  await account.call(CENT, chat({ source: "contradicted" }));
  await account.call(CENT, chat({ source: "contradicted", reasoning: 3 }));
  await account.call(CENT, chat({ tier: "unknown" }));
  await lab.flush(metrics);
  expect(await alarms()).toEqual([
    ["contradicted", 2],
    ["unknown_tier", 1],
  ]);
});

test("entries of one flush are counted by service and status, each with its amounts", async () => {
  await using lab = await openJournalLab();
  const { registry, metrics } = metricsOf(lab);
  const account = await lab.account(7);
  const end = {
    status: 200,
    errorCode: null,
    latencyMs: 5,
    firstTokenMs: null,
    promptTokens: 60,
    cachedTokens: 20,
    completionTokens: 50,
    requests: 1,
    lane: "stub",
  };
  const chat = (other: Partial<Outcome>) => ({ outcome: outcomeText({ ...end, ...other }) });
  await account.call(CENT, chat({ upstreamCost: usd("0.004") }));
  await account.call(CENT, chat({ promptTokens: 1, cachedTokens: 0, completionTokens: 2 }));
  await account.call(usd("0.02"), chat({ status: 499, errorCode: "client_disconnected" }));
  await lab.flush(metrics);
  const lines = (await registry.metrics()).split("\n");
  const counted = (start: string) =>
    lines
      .find((line) => line.startsWith(start))
      ?.split(" ")
      .at(-1);
  expect(lines.filter((line) => line.startsWith("farebox_calls_total{"))).toHaveLength(2);
  expect(
    [
      'farebox_calls_total{service="models",status="200"',
      'farebox_calls_total{service="models",status="499"',
      'farebox_charged_usd_total{service="models"',
      'farebox_upstream_cost_usd_total{service="models"',
      'farebox_tokens_total{type="input"',
      'farebox_tokens_total{type="cached"',
      'farebox_tokens_total{type="output"',
      'farebox_route_tokens_total{provider="stub",model="m",type="input"',
      'farebox_route_tokens_total{provider="stub",model="m",type="cached"',
      "farebox_expired_holds_total",
    ].map(counted),
  ).toEqual(["2", "1", "0.04", "0.004", "61", "20", "52", "61", "20", "0"]);
});
