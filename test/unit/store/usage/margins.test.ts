// Tests the operator's cost of calls: from the journal to the log, the sums, the report and the
// export.

import { expect, test } from "bun:test";
import { marginReport } from "../../../../src/accounts/margin-report.ts";
import { outcomeText, parseOutcome } from "../../../../src/core/journal/journal.ts";
import { usd } from "../../../../src/core/money/money.ts";
import { EXPORT_HEADINGS, exportCalls, exportLog } from "../../../../src/store/usage/log-export.ts";
import { ALL_CALLS } from "../../../../src/store/usage/log-filter.ts";
import { repairMargins } from "../../../../src/store/usage/margin-repair.ts";
import { shared } from "../../../support/shared.ts";
import {
  AT_MS,
  type JournalLab,
  OUTCOME,
  openJournalLab,
} from "../../../support/stores/journal-lab.ts";

const MONTH = { from: "2031-03-01", to: "2031-04-01" } as const;
const costing = (amount: string) => outcomeText({ ...OUTCOME, upstreamCost: usd(amount) });

const lab = await shared(openJournalLab());

/** Removes the sums of earlier tests. */
async function emptied(): Promise<JournalLab> {
  await lab.database.sql`TRUNCATE margin_days, request_log`;
  return lab;
}

test("an outcome without a cost has the text of earlier releases", () => {
  const before = '[200,null,12,null,3,0,4,1,null,"main"]';
  expect(outcomeText(OUTCOME)).toBe(before);
  expect(parseOutcome(before)).toEqual(OUTCOME);
  expect(costing("0.004")).toBe('[200,null,12,null,3,0,4,1,null,"main",4000000]');
  expect(parseOutcome(costing("0.004"))).toEqual({ ...OUTCOME, upstreamCost: usd("0.004") });
  const standIn = { ...OUTCOME, model: "n", priceVersion: "p2" };
  expect(outcomeText(standIn)).toBe('[200,null,12,null,3,0,4,1,"n","main",null,"p2"]');
  expect(parseOutcome(outcomeText(standIn))).toEqual(standIn);
  expect(() => parseOutcome('[200,null,12,null,3,0,4,1,null,"main",0.5]')).toThrow(RangeError);
});

test("margin is summed over calls of known cost; the rest is apart, and never 0", async () => {
  const { database, flush } = await emptied();
  const account = await lab.account(5);
  await account.call(usd("0.01"), { outcome: costing("0.004") });
  await account.call(usd("0.02"), { outcome: costing("0.025") });
  await account.call(usd("0.03"));
  const unpriced = outcomeText({ ...OUTCOME, lane: "spare" });
  await account.call(usd("0.04"), { outcome: unpriced });
  await account.refused();
  await flush();
  const { rows, total } = await marginReport(database, { ...MONTH, by: "route" });
  expect(rows).toMatchObject([
    {
      service: "models",
      model: "m",
      lane: "main",
      day: null,
      calls: 3,
      charged: BigInt(usd("0.06")),
      free: 0n,
      knownCalls: 2,
      knownCharged: BigInt(usd("0.03")),
      upstreamCost: BigInt(usd("0.029")),
      margin: BigInt(usd("0.001")),
      marginBasisPoints: 333,
      unknownCharged: BigInt(usd("0.03")),
    },
    { lane: "spare", calls: 1, knownCalls: 0, margin: null, marginBasisPoints: null },
  ]);
  expect(total).toMatchObject({ calls: 4, charged: BigInt(usd("0.1")), knownCalls: 2 });
  const byModel = await marginReport(database, { ...MONTH, by: "model" });
  expect(byModel.rows).toMatchObject([{ model: "m", lane: null, calls: 4 }]);
  const byDay = await marginReport(database, { ...MONTH, by: "day" });
  expect(byDay.rows.map(({ day }) => day)).toEqual(["2031-03-15", "2031-03-15"]);
  const next = await marginReport(database, { from: "2031-04-01", to: "2031-05-01", by: "day" });
  expect(next).toMatchObject({ rows: [], total: { calls: 0, margin: null } });
});

test("a loss is rounded down like a gain", async () => {
  const { database, flush } = await emptied();
  const account = await lab.account(6);
  await account.call(usd("0.03"), { outcome: costing("0.031") });
  await flush();
  const { total } = await marginReport(database, { ...MONTH, by: "service" });
  expect([total.margin, total.marginBasisPoints]).toEqual([-BigInt(usd("0.001")), -334]);
});

test("a call that settles after its hold expired moves to its route, with its cost", async () => {
  const { database, flush } = await emptied();
  const account = await lab.account(7);
  const request = "req_0000000000000000000009";
  const { lane: _, ...unserved } = OUTCOME;
  const swept = outcomeText({ ...unserved, status: 500, errorCode: "hold_expired" });
  await account.call(usd("0.01"), { type: "expired", request, outcome: swept });
  await flush();
  const before = await marginReport(database, { ...MONTH, by: "route" });
  expect(before.rows).toMatchObject([{ lane: "", calls: 1, knownCalls: 0 }]);
  await account.call(usd("0.02"), { type: "late", request, outcome: costing("0.005") });
  await flush();
  const { rows } = await marginReport(database, { ...MONTH, by: "route" });
  expect(rows).toMatchObject([
    { lane: "main", calls: 1, charged: BigInt(usd("0.03")), margin: BigInt(usd("0.025")) },
  ]);
  expect(await repairMargins(database)).toBe(0);
});

test("sums that an earlier release did not write are recomputed from the log", async () => {
  const { database, flush } = await emptied();
  const account = await lab.account(8);
  const other = await lab.account(9);
  await account.call(usd("0.01"), { outcome: costing("0.004") });
  await other.call(usd("0.02"));
  await flush();
  const right = await marginReport(database, { ...MONTH, by: "day" });
  await database.sql`DELETE FROM margin_days WHERE bucket = 8`;
  await database.sql`INSERT INTO margin_days
    SELECT bucket, '2031-02-01', service, model, lane, 5, 5, 0, 0, 0, 0, 0, 0 FROM margin_days`;
  expect(await repairMargins(database)).toBe(1);
  expect(await marginReport(database, { ...MONTH, by: "day" })).toEqual(right);
  // A month whose log is dropped keeps its sums.
  const dropped = { from: "2031-02-01", to: "2031-03-01" };
  expect((await marginReport(database, { ...dropped, by: "service" })).total.calls).toBe(5);
  expect(await repairMargins(database)).toBe(0);
});

test("an entry with an invalid cost loses its log row, not its money", async () => {
  const { database, flush, rejected } = await emptied();
  const account = await lab.account(10);
  await account.call(usd("0.01"), { outcome: '[200,null,12,null,3,0,4,1,null,"main",0.5]' });
  await flush();
  expect(await rejected.countOpen()).toBe(1);
  expect((await account.ledger()).at(-1)).toMatchObject({ kind: "charge" });
  expect((await marginReport(database, { ...MONTH, by: "route" })).rows).toEqual([]);
});

test("the report and the export say which costs the provider reported", async () => {
  const { database, flush } = await emptied();
  const account = await lab.account(12);
  const reported = (amount: string) =>
    outcomeText({
      ...OUTCOME,
      upstreamCost: usd(amount),
      usageDetails: { isReportedCost: true },
    });
  await account.call(usd("0.01"), { outcome: costing("0.004") });
  await account.call(usd("0.02"), { outcome: reported("0.007") });
  await account.call(usd("0.03"));
  const request = "req_0000000000000000000011";
  await account.call(usd("0.01"), { type: "expired", request });
  await flush();
  await account.call(usd("0.01"), { type: "late", request, outcome: reported("0.001") });
  await flush();
  const { rows, total } = await marginReport(database, { ...MONTH, by: "route" });
  const sums = { knownCalls: 3, upstreamCost: BigInt(usd("0.012")) };
  const ofProvider = { providerCalls: 2, providerCost: BigInt(usd("0.008")) };
  expect(rows).toMatchObject([{ ...sums, ...ofProvider }]);
  expect(total).toMatchObject(ofProvider);
  expect(await repairMargins(database)).toBe(0);
  await database.sql`UPDATE margin_days SET provider_calls = 0, provider_cost = 0`;
  expect(await repairMargins(database)).toBe(1);
  expect((await marginReport(database, { ...MONTH, by: "route" })).total).toEqual(total);
  let csv = "";
  const range = { account: account.number, from: new Date(0), to: new Date(2 * AT_MS) };
  for await (const page of exportLog(database, range)) csv += page.csv;
  const [names = [], ...cells] = csv
    .trimEnd()
    .split("\r\n")
    .map((line) => line.split(","));
  const sources = cells.map((row) => row[names.indexOf('"upstream_source"')]);
  expect(sources.toSorted()).toEqual(['"local"', '"provider"', '"provider"', ""].toSorted());
});

test("only the operator's export shows the upstream cost of a call", async () => {
  const { database, flush } = await emptied();
  const account = await lab.account(11);
  await account.call(usd("0.01"), { outcome: costing("0.004") });
  await account.call(usd("0.02"));
  await flush();
  const range = { account: account.number, from: new Date(0), to: new Date(2 * AT_MS) };
  const linesOf = async (pages: AsyncIterable<{ readonly csv: string }>) => {
    let csv = "";
    for await (const page of pages) csv += page.csv;
    return csv.trimEnd().split("\r\n");
  };
  const [header, ...rows] = await linesOf(exportLog(database, range));
  expect(header).toContain('"refused_by","upstream_cost_usd","margin_usd","cache_write_tokens"');
  const at = header?.split(",").indexOf('"upstream_cost_usd"') ?? 0;
  const costs = rows.map((row) => row.split(",").slice(at, at + 2));
  expect(costs).toContainEqual(["0.004", "0.006"]);
  expect(costs).toContainEqual(["", ""]);
  const held = await linesOf(exportCalls(database, account.number, ALL_CALLS));
  expect(held.join("\n")).not.toMatch(/upstream|margin|0\.004|0\.006/);
  expect(held[0]).toBe(EXPORT_HEADINGS.map((name) => `"${name}"`).join(","));
});
