// Tests that the export shows all that the request log keeps of an entry, column by column.

import { expect, test } from "bun:test";
import { outcomeText } from "../../../src/core/journal/journal.ts";
import { nano, usd } from "../../../src/core/money/money.ts";
import { parseParts } from "../../../src/core/money/usage.ts";
import { EXPORT_HEADINGS, exportLog } from "../../../src/store/usage/log-export.ts";
import {
  AT_MS,
  type JournalLab,
  type LabAccount,
  OUTCOME,
  openJournalLab,
} from "../../support/stores/journal-lab.ts";

async function exported({ database }: JournalLab, account: LabAccount): Promise<string[]> {
  let csv = "";
  const range = { account: account.number, from: new Date(0), to: new Date(2 * AT_MS) };
  for await (const page of exportLog(database, range)) csv += page.csv;
  return csv.split("\r\n").slice(1, -1);
}

test("columns that programs know keep their place, and new ones come after them", () => {
  expect(EXPORT_HEADINGS.join(" ")).toBe(
    "time request_id key_id key_name endpoint service model status error_code latency_ms " +
      "first_token_ms prompt_tokens cached_tokens completion_tokens requests cost_usd country " +
      "ip_hash lane held_usd free_cost_usd price_version refused_by cache_write_tokens tier " +
      "usage_source usage_parts key_tags run step asked_model end_user",
  );
});

test("a call is exported with its route, its hold and the part that free credit paid", async () => {
  await using lab = await openJournalLab();
  const account = await lab.account(5);
  account.free = 0n;
  await account.call(usd("0.01"));
  await account.refused();
  await lab.flush();
  const rows = await exported(lab, account);
  const known = `"${account.keyId}","test","/v1/chat/completions","models","m"`;
  const isRefused = (row: string) => row.includes(",429,");
  expect(rows.find(isRefused)).toEndWith(
    `,${known},429,"rate_limit_exceeded",3,,0,0,0,1,0,"DE",` +
      '"0011223344556677",,,0,"p1","mail_minute",,,,,,,,,,,,,,',
  );
  expect(rows.find((row) => !isRefused(row))).toEndWith(
    `,${known},200,,12,,3,0,4,1,0.01,"DE","0011223344556677","main",0.02,0,"p1",,,,,,,,,,,,,,,`,
  );
});

test("a call that another model served has that model and its prices", async () => {
  await using lab = await openJournalLab();
  const account = await lab.account(5);
  const standIn = { outcome: outcomeText({ ...OUTCOME, model: "n", priceVersion: "p2" }) };
  await account.call(usd("0.01"), standIn);
  const request = "req_0000000000000000000007";
  await account.call(usd("0.01"), { type: "expired", request });
  await lab.flush();
  await account.call(usd("0.01"), { type: "late", request, ...standIn });
  await lab.flush();
  expect(await account.log()).toMatchObject([
    { model: "n", price_version: "p2" },
    { model: "n", price_version: "p2" },
  ]);
});

test("a call has the parts and the tier of its usage, in a row of 300 bytes", async () => {
  await using lab = await openJournalLab();
  const account = await lab.account(5);
  const usageDetails = {
    more: { cacheWrite5m: 4_012, cacheWrite1h: 3 },
    fees: { web_search: { calls: 2, queries: 3 } },
    reasoning: 12,
    tier: "priority",
    source: "contradicted",
    isReportedCost: true,
  } as const;
  const upstreamCost = usd("0.008");
  await account.call(usd("0.01"), {
    outcome: outcomeText({ ...OUTCOME, upstreamCost, usageDetails }),
  });
  await lab.flush();
  const [row] = await account.log();
  expect(row).toMatchObject({
    cache_write_tokens: 4_015,
    tier: "priority",
    usage_source: "contradicted",
    upstream_source: "provider",
  });
  const { more, fees, reasoning } = usageDetails;
  expect(parseParts(String(row?.usage_parts))).toEqual({ more, fees, reasoning, rows: [] });
  await account.call(usd("0.01"));
  await lab.flush();
  const sizes = await lab.database.sql`SELECT pg_column_size(l.*) AS bytes FROM request_log l
    WHERE account = ${account.number} ORDER BY tier NULLS FIRST`;
  const [plain = 0, whole = 0] = sizes.map(({ bytes }) => Number(bytes));
  expect([plain, whole].filter((bytes) => bytes > 300)).toEqual([]);
});

test("a call that settles after its hold expired corrects its row, once", async () => {
  await using lab = await openJournalLab();
  const account = await lab.account(5);
  const request = "req_0000000000000000000007";
  const swept = outcomeText({ ...OUTCOME, status: 500, errorCode: "hold_expired", lane: "a" });
  await account.call(usd("0.01"), { type: "expired", request, outcome: swept });
  // In the same flush, and in a later one.
  const lateRequest = "req_0000000000000000000008";
  await account.call(usd("0.01"), { type: "expired", request: lateRequest, outcome: swept });
  await account.call(usd("0.02"), { type: "late", request });
  await lab.flush();
  await account.call(usd("0.03"), { type: "late", request: lateRequest, held: nano(0n) });
  await lab.flush();
  await lab.flush();
  expect(await account.log()).toMatchObject([
    { cost: BigInt(usd("0.03")), status: 200, error_code: null, lane: "main", latency_ms: 12 },
    { cost: BigInt(usd("0.04")), status: 200, held: BigInt(usd("0.02")), lane: "main" },
  ]);
  expect((await account.ledger()).map(({ kind }) => kind)).toEqual([
    "credit",
    "charge",
    "charge",
    "late_charge",
    "late_charge",
  ]);
});
