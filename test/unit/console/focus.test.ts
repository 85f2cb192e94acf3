// Tests the export of a month as FOCUS 1.3: its sums against the ledger, and its rows against the
// rules of the specification. The validator of the FinOps Foundation (focus-validator on PyPI)
// ships rules of 1.2 alone and fetches others at run time; so the rules of 1.3 stand here (D-801).

import { expect, test } from "bun:test";
import { monthOf, monthText } from "../../../src/core/money/months.ts";
import { FOCUS_HEADINGS } from "../../../src/readings/focus/focus-columns.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { flushJournal } from "../../../workers/log-flush.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { type FocusRow, focusRows } from "../../support/focus-rows.ts";
import { shared } from "../../support/shared.ts";
import { signedUsd } from "../../support/signed-usd.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const world = await shared(ConsoleWorld.start());
const MONTH = monthText(Date.now());
const { database } = world.api.parts.stores;

/** The mandatory columns of the specification, those of 1.2 that 1.3 replaced among them. */
const MANDATORY = [
  "BilledCost",
  "BillingAccountId",
  "BillingAccountName",
  "BillingCurrency",
  "BillingPeriodEnd",
  "BillingPeriodStart",
  "ChargeCategory",
  "ChargeClass",
  "ChargeDescription",
  "ChargePeriodEnd",
  "ChargePeriodStart",
  "ContractedCost",
  "EffectiveCost",
  "HostProviderName",
  "InvoiceIssuerName",
  "ListCost",
  "PricingQuantity",
  "PricingUnit",
  "ProviderName",
  "PublisherName",
  "ServiceCategory",
  "ServiceName",
  "ServiceProviderName",
];
const MAY_BE_NULL = ["ChargeClass", "PricingQuantity", "PricingUnit", "SkuPriceDetails", "Tags"];
const SKU_COLUMNS = FOCUS_HEADINGS.filter((name) => /^Sku|Quantity$|Unit|Pricing/.test(name));

async function flush(): Promise<void> {
  const { actors } = world.api.parts.stores;
  await flushJournal({
    scripts: actors.scripts,
    ledger: new Ledger(database),
    log: silent,
    keepMs: 60_000,
    rebuild: (buckets) => actors.rebuild(buckets),
    onFork: () => {},
  });
}

async function ask({ id }: TestAccount, month: string, role = "viewer"): Promise<Response> {
  const url = `${world.api.parts.url}/console/api/accounts/${id}/focus.csv?month=${month}`;
  return await fetch(url, { headers: { cookie: `session=${role}` } });
}

async function rowsOf(account: TestAccount): Promise<FocusRow[]> {
  const response = await ask(account, MONTH);
  expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(response.headers.get("content-disposition")).toContain(`focus-${MONTH}.csv`);
  return focusRows(await response.text());
}

/** The charges of the ledger in the month: all, and those of the paid balance. */
async function charged({ id }: TestAccount): Promise<{ all: bigint; paid: bigint }> {
  const [row] = await database.sql`
    SELECT coalesce(-sum(paid_delta + free_delta), 0)::text AS all,
      coalesce(-sum(paid_delta), 0)::text AS paid
    FROM ledger_entries e JOIN accounts a ON a.number = e.account
    WHERE a.id = ${id} AND kind IN ('charge', 'late_charge') AND month = ${monthOf(Date.now())}`;
  return { all: BigInt(row?.all), paid: BigInt(row?.paid) };
}

const sum = (rows: readonly FocusRow[], column: string) =>
  rows.reduce((total, row) => total + signedUsd(row[column] ?? ""), 0n);

/** The digits of a decimal number with twelve places. */
function pico(text: string | undefined): bigint {
  const [whole = "0", fraction = ""] = (text ?? "").split(".");
  return BigInt(whole + fraction.padEnd(12, "0"));
}

async function busyAccount(): Promise<TestAccount> {
  const account = await world.account({ paid: "3", free: "0.00002", contract: "enterprise" });
  for (const model of ["test-model", "paid-only", "test-model", "no-such-model", "paid-only"]) {
    await world.api.post(account, chatBody({ model }));
  }
  await flush();
  return account;
}

test("its usage adds up to the ledger's charges, with its credits to the payments", async () => {
  const account = await busyAccount();
  const rows = await rowsOf(account);
  const { all, paid } = await charged(account);
  expect(paid).toBeGreaterThan(0n);
  expect(all).toBeGreaterThan(paid);
  const usage = rows.filter((row) => row.ChargeCategory === "Usage");
  for (const column of ["BilledCost", "EffectiveCost"]) {
    expect(sum(usage, column)).toBe(all);
    expect(sum(rows, column)).toBe(paid);
  }
  const types = new Set(usage.map((row) => JSON.parse(row.SkuPriceDetails ?? "").TokenType));
  expect([...types].sort()).toEqual(["Input", "Output"]);
  expect(new Set(usage.map((row) => row.SubAccountId))).toEqual(new Set([account.keyId]));
});

test("its rows keep the rules of FOCUS 1.3", async () => {
  const account = await busyAccount();
  await database.sql`UPDATE keys SET tags = ARRAY['web'] WHERE id = ${account.keyId}`;
  const rows = await rowsOf(account);
  expect(FOCUS_HEADINGS).toEqual(expect.arrayContaining(MANDATORY));
  expect([...FOCUS_HEADINGS]).toEqual([...FOCUS_HEADINGS].sort());
  expect(rows.length).toBeGreaterThan(4);
  for (const row of rows) {
    const isUsage = row.ChargeCategory === "Usage";
    expect(["Usage", "Credit"]).toContain(row.ChargeCategory ?? "");
    const empty = FOCUS_HEADINGS.filter((name) => row[name] === "");
    const allowed = isUsage ? MAY_BE_NULL : [...MAY_BE_NULL, ...SKU_COLUMNS];
    expect(empty.filter((name) => !allowed.includes(name))).toEqual([]);
    for (const name of FOCUS_HEADINGS.filter((one) => /(Start|End)$/.test(one))) {
      expect(row[name]).toMatch(/^\d{4}-\d\d-\d\dT00:00:00Z$/);
    }
    expect(row.BillingPeriodStart).toBe(`${MONTH}-01T00:00:00Z`);
    for (const name of FOCUS_HEADINGS.filter((one) => /(Cost|Quantity|Price)$/.test(one))) {
      if (row[name] !== "") expect(row[name]).toMatch(/^-?\d+(\.\d+)?$/);
    }
    expect([row.BillingCurrency, JSON.parse(row.Tags ?? "")]).toEqual(["USD", { web: true }]);
    if (!isUsage) {
      expect([row.ListCost, row.ContractedCost]).toEqual([row.BilledCost, row.BilledCost]);
      continue;
    }
    const product = pico(row.ListUnitPrice) * BigInt(row.PricingQuantity ?? "");
    expect([pico(row.ListCost), pico(row.ContractedCost)]).toEqual([product, product]);
    expect(row.SkuPriceId?.startsWith(`${row.SkuId}@`)).toBe(true);
    expect(JSON.parse(row.SkuPriceDetails ?? "")).toEqual({
      ModelId: expect.stringMatching(/^(test-model|paid-only)$/),
      TokenType: expect.stringMatching(/^(Input|Output)$/),
    });
  }
});

test("money whose log is gone stays in the file, in a row that says so", async () => {
  const account = await busyAccount();
  const before = await charged(account);
  await database.sql`
    DELETE FROM request_log l USING accounts a WHERE a.number = l.account AND a.id = ${account.id}`;
  const rows = await rowsOf(account);
  const usage = rows.filter((row) => row.ChargeCategory === "Usage");
  expect(sum(usage, "BilledCost")).toBe(before.all);
  expect(sum(rows, "BilledCost")).toBe(before.paid);
  expect(new Set(usage.map((row) => row.ChargeDescription))).toEqual(
    new Set(["Charges whose prices are no longer known"]),
  );
  expect(sum(usage, "ListCost")).toBe(before.all);
});

test("an account without calls has a file with its head alone", async () => {
  expect(await rowsOf(await world.account())).toEqual([]);
});

test.each([
  ["2026-13", "month must be one such as 2026-11, but is '2026-13'"],
  ["november", "month must be one such as 2026-11, but is 'november'"],
  ["0000-01", "month must be one such as 2026-11, but is '0000-01'"],
  ["1999-12", "month must be one such as 2026-11, but is '1999-12'"],
  ["9999-12", "month 9999-12 has not begun"],
])("refuses the month %s before a file begins", async (month, words) => {
  const response = await ask(await world.account(), month);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { code: "invalid_parameter", message: words },
  });
});

test("strangers get no file", async () => {
  expect((await ask(await world.account(), MONTH, "stranger")).status).toBe(404);
});
