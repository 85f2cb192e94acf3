// Each part of a call that can have a price, each fee and each tier, in every place that shows the
// usage or the cost of a call: reply, receipt, signed receipt, request log, margin, metrics and
// spans.

import { beforeAll, describe, expect, test } from "bun:test";
import { marginReport } from "../../../src/accounts/margin-report.ts";
import { toUuid } from "../../../src/core/ids.ts";
import { exactCost, pricesOf } from "../../../src/core/money/call-cost.ts";
import { type PicoUsd, price, toDecimal } from "../../../src/core/money/money.ts";
import type { RowPrices } from "../../../src/core/money/price-rows.ts";
import {
  ALL_PARTS,
  FEES,
  type FeeCounts,
  type Part,
  type PartCounts,
  partName,
  SERVED_PLAINLY,
  TIERS,
  type Tier,
  usageOf,
} from "../../../src/core/money/usage.ts";
import { openCallTracer } from "../../../src/http/telemetry/call-tracer.ts";
import { createRegistry } from "../../../src/http/telemetry/metrics-server.ts";
import type { ReceiptReply } from "../../../src/readings/receipt.ts";
import { linesOf, PART_WORDS } from "../../../src/readings/receipt-lines.ts";
import type { ChatUsage } from "../../../src/services/chat/protocols/provider.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { accountNumber } from "../../../src/store/accounts/account-number.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { findCall } from "../../../src/store/usage/request-log.ts";
import { journalMetrics } from "../../../workers/journal-metrics.ts";
import { flushJournal } from "../../../workers/log-flush.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { MODEL } from "../../support/api/models.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { shared, sharedServer } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const OTHERS = ALL_PARTS.filter((part) => !["uncached", "cacheRead", "text"].includes(part));
const micro = (amount: number) => price(String(amount), 1_000_000);

/** No two parts, fees or tiers have one price, so that a wrong one gives another charge. */
function rowsOf(factor: number): RowPrices[] {
  const row = (extra: number): RowPrices => ({
    input: micro(factor + extra),
    output: micro(2 * factor + extra),
    cachedInput: micro(0.1 * factor + extra),
    others: Object.fromEntries(
      OTHERS.map((part, index) => [part, micro(3 * factor + extra + index)]),
    ) as Record<(typeof OTHERS)[number], PicoUsd>,
    fees: Object.fromEntries(
      FEES.map((fee, index) => [
        fee,
        { price: price(String(factor + index), 10_000), per: "query" },
      ]),
    ),
  });
  const others = TIERS.filter((tier) => tier !== "standard");
  return [row(0), ...others.map((tier, index) => ({ ...row(100 * (index + 1)), when: { tier } }))];
}

const SELLING = pricesOf(rowsOf(20));
const BUYING = pricesOf(rowsOf(10));
const catalogue = catalogueOf([{ ...MODEL, prices: SELLING }], []);

const sent: string[] = [];
const collector = sharedServer(async (request) => {
  sent.push(await request.text());
  return Response.json({});
});
const tracer = openCallTracer({
  url: `http://127.0.0.1:${collector.port}/v1/traces`,
  headers: {},
  followsCallers: false,
  ratio: 1,
  serviceName: "farebox-test",
  version: "0",
  clock: realClock,
  log: silent,
});
const world = await shared(ConsoleWorld.start(() => ({ catalogue: () => catalogue, tracer })));
const registry = createRegistry("worker");
const metrics = journalMetrics({
  registry,
  lag: async () => null,
  openRejections: async () => 0,
  log: silent,
});

interface Case {
  readonly parts: PartCounts;
  readonly fees?: FeeCounts;
  readonly tier?: Tier;
  readonly reasoning?: number;
}

const COUNT = 7;
const PLAIN: PartCounts = { uncached: 100, text: 10 };
const CASES: readonly (readonly [name: string, Case])[] = [
  ...ALL_PARTS.map((part) => [part, { parts: { ...PLAIN, [part]: COUNT } }] as const),
  ...FEES.filter((fee) => fee !== "request").map(
    (fee) => [fee, { parts: PLAIN, fees: { [fee]: { calls: 2, queries: 3 } } }] as const,
  ),
  ...TIERS.map((tier) => [tier, { parts: PLAIN, tier }] as const),
  ["reasoning", { parts: PLAIN, reasoning: 4 }],
];

interface Made {
  readonly id: string;
  readonly cost: bigint;
  readonly upstream: bigint;
}

let account: TestAccount;
let csv: Map<string, Record<string, string>>;
let counted: string;
let spans: Map<string, Record<string, unknown>>;
const made = new Map<string, Made>();

/** The call of a case, over real HTTP. */
async function call({ parts, fees, tier = "standard", reasoning }: Case): Promise<Made> {
  const served = { ...SERVED_PLAINLY, tier };
  const tokens = usageOf(parts);
  const usage: ChatUsage = {
    ...tokens,
    served,
    ...(fees !== undefined && { fees }),
    ...(reasoning !== undefined && { outputDetails: { reasoning_tokens: reasoning } }),
  };
  const message = { role: "assistant", content: "Hello." } as const;
  const reply = {
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage,
    buying: BUYING,
  };
  world.api.chat.reply = async () => reply;
  const response = await world.api.post(account, chatBody());
  expect(response.status).toBe(200);
  const { svc } = (await response.json()) as { svc: { request_id: string; cost_usd: number } };
  const cost = exactCost(SELLING, tokens, { served, fees });
  expect(response.headers.get("x-svc-cost-usd")).toBe(toDecimal(cost));
  return { id: svc.request_id, cost, upstream: exactCost(BUYING, tokens, { served, fees }) };
}

/** The attributes of the spans of providers, by the id of the request. */
function spansOf(texts: readonly string[]): typeof spans {
  const all = texts.flatMap((text) =>
    JSON.parse(text).resourceSpans.flatMap((one: { scopeSpans: { spans: Span[] }[] }) =>
      one.scopeSpans.flatMap((scope) => scope.spans),
    ),
  ) as Span[];
  const values = ({ attributes }: Span) =>
    Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]] as const));
  const byTrace = new Map(
    all.filter(({ kind }) => kind === CLIENT).map((span) => [span.traceId, values(span)]),
  );
  return new Map(
    all
      .filter(({ kind }) => kind !== CLIENT)
      .map((span) => [String(values(span)["farebox.request_id"]), byTrace.get(span.traceId) ?? {}]),
  );
}

interface Span {
  readonly traceId: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}
const CLIENT = 3;

beforeAll(async () => {
  account = await world.account({ scopes: ["models"], paid: "100" });
  for (const [name, one] of CASES) made.set(name, await call(one));
  const { actors, database } = world.api.parts.stores;
  await flushJournal({
    scripts: actors.scripts,
    ledger: new Ledger(database),
    log: silent,
    keepMs: 60_000,
    rebuild: (buckets) => actors.rebuild(buckets),
    ...metrics,
  });
  counted = await registry.metrics();
  await tracer.close();
  spans = spansOf(sent);
  const url = `${world.api.parts.url}/console/api/accounts/${account.id}/requests.csv`;
  const text = await (await fetch(url, { headers: { cookie: "session=viewer" } })).text();
  const [heads = [], ...rows] = text.trimEnd().split("\r\n").map(cellsOf);
  const named = rows.map((row) =>
    Object.fromEntries(heads.map((head, at) => [head, row[at] ?? ""])),
  );
  csv = new Map(named.map((row) => [row.request_id ?? "", row]));
}, 180_000);

function cellsOf(line: string): string[] {
  return line.split(",").map((cell) => cell.replace(/^"|"$/g, ""));
}

function counter(name: string, label: string): number {
  const line = counted.split("\n").find((one) => one.startsWith(`${name}{${label}`));
  return Number(line?.split(" ").at(-1) ?? 0);
}

const ticket = async (name: string) => {
  const path = `/accounts/${account.id}/requests/${made.get(name)?.id}`;
  return (await world.get<ReceiptReply>("viewer", path)).body;
};

async function signed(name: string): Promise<Record<string, unknown>> {
  const response = await world.api.get(`/v1/receipts/${made.get(name)?.id}`, account);
  const { claims } = (await response.json()) as { claims: { receipt: Record<string, unknown> } };
  return claims.receipt;
}

describe.each(ALL_PARTS)("tokens of %s", (part: Part) => {
  test("are a line of the ticket with their own price", async () => {
    const { lines, charged_usd: charged } = await ticket(part);
    const pico = SELLING.rows[0]?.of[part] ?? 0n;
    expect(charged).toBe(toDecimal(made.get(part)?.cost as never));
    expect(lines.find(({ what }) => what === PART_WORDS[part])).toMatchObject({
      units: COUNT,
      price_usd: String(Number(pico) / 1e6),
    });
  });

  test("are in the signed receipt, the CSV, the metrics and the span", async () => {
    const { id = "" } = made.get(part) ?? {};
    expect(await signed(part)).toMatchObject({ units: { [part]: String(COUNT) } });
    const attributes = spans.get(id) ?? {};
    if (part === "uncached") {
      expect(csv.get(id)).toMatchObject({ prompt_tokens: String(COUNT) });
      expect(attributes).toMatchObject({ "gen_ai.usage.input_tokens": COUNT });
      expect(counter("farebox_tokens_total", 'type="input"')).toBeGreaterThan(COUNT);
    } else if (part === "text") {
      expect(csv.get(id)).toMatchObject({ completion_tokens: String(COUNT) });
      expect(attributes).toMatchObject({ "gen_ai.usage.output_tokens": COUNT });
      expect(counter("farebox_tokens_total", 'type="output"')).toBeGreaterThan(COUNT);
    } else if (part === "cacheRead") {
      expect(csv.get(id)).toMatchObject({ cached_tokens: String(COUNT) });
      expect(attributes).toMatchObject({ "gen_ai.usage.cache_read.input_tokens": COUNT });
      expect(counter("farebox_tokens_total", 'type="cached"')).toBe(2 * COUNT);
    } else {
      expect(csv.get(id)).toMatchObject({ usage_parts: `${part}:${COUNT}` });
      expect(attributes).toMatchObject({ [`farebox.usage.${partName(part)}_tokens`]: COUNT });
      expect(counter("farebox_tokens_total", `type="${partName(part)}"`)).toBe(COUNT);
    }
  });
});

describe.each(FEES.filter((fee) => fee !== "request"))("calls of %s", (fee) => {
  test("are in every place", async () => {
    const { id = "" } = made.get(fee) ?? {};
    const { lines } = await ticket(fee);
    expect(lines.find(({ what }) => what === `${fee} fee`)).toMatchObject({ units: 3, per: 1 });
    const units = { [`${fee}_calls`]: "2", [`${fee}_queries`]: "3" };
    expect(await signed(fee)).toMatchObject({ units });
    expect(csv.get(id)).toMatchObject({ usage_parts: `${fee}:2/3` });
    expect(spans.get(id)).toMatchObject({
      [`farebox.usage.${fee}_calls`]: 2,
      [`farebox.usage.${fee}_queries`]: 3,
    });
    expect(counter("farebox_provider_tool_calls_total", `tool="${fee}"`)).toBe(2);
  });
});

describe.each(TIERS.filter((tier) => tier !== "standard"))("the tier %s", (tier) => {
  test("is in every place, and its row is charged", async () => {
    const { id = "" } = made.get(tier) ?? {};
    const { lines } = await ticket(tier);
    const row = SELLING.rows.find(({ when }) => when?.tier === tier);
    const priceOf = String(Number(row?.of.uncached ?? 0n) / 1e6);
    expect(lines.find(({ what }) => what === PART_WORDS.uncached)?.price_usd).toBe(priceOf);
    expect(await signed(tier)).toMatchObject({ tier });
    expect(csv.get(id)).toMatchObject({ tier });
    expect(spans.get(id)).toMatchObject({ "farebox.service_tier": tier });
    expect(counter("farebox_tier_calls_total", `tier="${tier}"`)).toBe(1);
  });
});

test("tokens of reasoning are inside of the output, and shown beside it", async () => {
  const { id = "" } = made.get("reasoning") ?? {};
  const { lines } = await ticket("reasoning");
  expect(lines.find(({ what }) => what === PART_WORDS.text)?.units).toBe(10);
  expect(csv.get(id)).toMatchObject({ completion_tokens: "10", usage_parts: "reasoning:4" });
  expect(spans.get(id)).toMatchObject({ "gen_ai.usage.reasoning.output_tokens": 4 });
  expect(counter("farebox_tokens_total", 'type="reasoning"')).toBe(4);
});

test("the margin report has the buying price of each part, fee and tier", async () => {
  const day = new Date(realClock.now()).toISOString().slice(0, 10);
  const next = new Date(realClock.now() + 86_400_000).toISOString().slice(0, 10);
  const { database } = world.api.parts.stores;
  const { total } = await marginReport(database, { from: day, to: next, by: "model" });
  const all = [...made.values()];
  const [charged, upstream] = [
    all.reduce((sum, { cost }) => sum + cost, 0n),
    all.reduce((sum, one) => sum + one.upstream, 0n),
  ];
  expect(total).toMatchObject({
    calls: CASES.length,
    knownCalls: CASES.length,
    charged,
    upstreamCost: upstream,
    margin: charged - upstream,
  });
});

test("a charge that no row of prices explains has its units by part, without prices", async () => {
  const changed = catalogueOf([{ ...MODEL, prices: pricesOf(rowsOf(30)) }], []);
  const { database } = world.api.parts.stores;
  const number = await accountNumber(database.db, account.id);
  for (const [name, words, units, per] of [
    ["imageOut", PART_WORDS.imageOut, COUNT, 1_000_000],
    ["web_search", "web_search calls", 2, 1],
  ] as const) {
    const found = await findCall(database, number, toUuid(made.get(name)?.id ?? ""));
    const lines = found === null ? [] : linesOf(() => changed, found.call);
    expect(lines).toContainEqual({ what: words, units, per, price_usd: null, cost_usd: null });
    expect(lines.every(({ price_usd }) => price_usd === null)).toBe(true);
  }
});
