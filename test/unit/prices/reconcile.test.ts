// Tests `farebox reconcile`: forms of exports, refusals by line and column, and drifts that are
// named. The rows of the log are written as the flush writes them.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelKey } from "../../../src/annexes/prices/model-names.ts";
import { readUsageExport } from "../../../src/annexes/prices/usage-exports.ts";
import { csvRows } from "../../../src/core/text/csv-rows.ts";
import { cliOf, environmentOf } from "../../support/product/run-cli.ts";
import { shared, sharedFolder } from "../../support/shared.ts";
import { openWorld, usd } from "../../support/stores/world.ts";
import { workIn } from "../../support/work-in.ts";

const folder = sharedFolder("reconcile");
const world = await shared(openWorld());
workIn(folder, { KEY: "sk-x", ...(await environmentOf(world)) });
const cli = await cliOf(world, { KEY: "sk-x" });

const MODELS: Readonly<Record<string, readonly [provider: string, model: string]>> = {
  haiku: ["claude", "claude-haiku-4-5-20251001"],
  opus: ["claude", "claude-opus-5"],
  mini: ["openai", "gpt-5-mini"],
  nano: ["openai", "gpt-5-nano"],
  routed: ["router", "anthropic/claude-opus-4.7"],
};
const PROVIDERS = { claude: "anthropic", openai: "openai", router: "openrouter" };

writeFileSync(
  join(folder, "farebox.config.json"),
  JSON.stringify({
    providers: Object.fromEntries(
      Object.entries(PROVIDERS).map(([name, provider]) => [name, { provider, api_key_env: "KEY" }]),
    ),
    models: Object.entries(MODELS).map(([id, [provider, model]]) => ({
      id,
      label: id,
      family: "f",
      owned_by: "o",
      context_length: 1_000,
      pricing: [{ input_usd_per_m: "1", output_usd_per_m: "2" }],
      routes: [{ provider, model }],
    })),
  }),
);

async function logged(id: string, day: string, cost: string, calls = 10): Promise<void> {
  const lane = MODELS[id]?.[0] ?? "";
  await world.database.sql`
    INSERT INTO margin_days (bucket, day, service, model, lane, calls, cost, free_cost, known_calls,
      known_cost, upstream_cost)
    VALUES (1, ${day}, 'models', ${id}, ${lane}, ${calls}, 0, 0, ${calls}, 0,
      ${usd(cost).toString()})`;
}

await logged("haiku", "2031-03-04", "0.07");
await logged("haiku", "2031-03-05", "20");
await logged("opus", "2031-03-05", "1");
await logged("mini", "2031-03-04", "0.5");
await logged("nano", "2031-03-04", "0.00383598");
await logged("routed", "2031-03-12", "430.07");

const ANTHROPIC =
  "usage_date_utc,model,workspace,api_key,usage_type,context_window,token_type,cost_usd," +
  "list_price_usd,cost_type,inference_geo,speed";
const anthropicRow = (day: string, model: string, cost: string) =>
  `${day},${model},Default,"key, one",message,≤ 200k,output,${cost},${cost},token,global,`;
const OPENAI =
  "start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency," +
  "line_item,project_id";
const MARCH_4 = Date.parse("2031-03-04") / 1_000;
const openAiRow = (seconds: number, amount: string, item: string) =>
  `${seconds},${seconds + 86_400},,,${amount},${amount === "" ? "" : "usd"},${item},`;

async function reconciled(provider: string, lines: readonly string[], ...more: string[]) {
  writeFileSync(join(folder, "export.csv"), `${lines.join("\r\n")}\r\n`);
  return await cli("reconcile", provider, "--month", "2031-03", "--file", "export.csv", ...more);
}

test("an export that agrees with the log ends with 0, for each provider's form", async () => {
  const claude = await reconciled("claude", [
    ANTHROPIC,
    anthropicRow("2031-03-04", "Claude Haiku 4.5", "0.05"),
    anthropicRow("2031-03-04", "Claude Haiku 4.5", "0.02"),
    anthropicRow("2031-03-05", "Claude Haiku 4.5", "20.00"),
    anthropicRow("2031-03-05", "Claude Opus 5", "1.00"),
    anthropicRow("2031-04-01", "Claude Opus 5", "7.00"),
  ]);
  expect([claude.code, claude.out]).toEqual([
    0,
    "claude and the log agree for 2031-03: $21.07.\n1 lines of other months were left out.\n",
  ]);
  const openai = await reconciled("openai", [
    OPENAI,
    openAiRow(MARCH_4 - 86_400, "", ""),
    openAiRow(MARCH_4, "0.3", '"gpt-5-mini-2025-08-07, input"'),
    openAiRow(MARCH_4, "0.20000000000000000000", '"gpt-5-mini-2025-08-07, output"'),
    openAiRow(MARCH_4, "0.003835980000000000000000000000", '"gpt-5-nano, input_tokens"'),
  ]);
  expect([openai.code, openai.err]).toEqual([0, ""]);
  const router = await reconciled("router", [
    "Date,Slug,Usage,BYOK Usage,Requests",
    '"2031-03-12 00:00:00","anthropic/claude-4.7-opus-20260416","430","0.07","4115"',
  ]);
  expect([router.code, router.err]).toEqual([0, ""]);
  const byCall = await reconciled("router", [
    "generation_id,created_at,model_permaslug,variant,cost_total,byok_usage_inference",
    "gen-a,2031-03-12T10:00:00.123Z,anthropic/claude-opus-4.7,standard,4.3007e2,0",
  ]);
  expect([byCall.code, byCall.err]).toEqual([0, ""]);
});

test("a drift of 3 % is named by model and day, and ends with 1", async () => {
  const lines = [
    ANTHROPIC,
    anthropicRow("2031-03-04", "Claude Haiku 4.5", "0.07"),
    anthropicRow("2031-03-05", "Claude Haiku 4.5", "20.60"),
    anthropicRow("2031-03-05", "Claude Opus 5", "1.00"),
  ];
  const { code, err } = await reconciled("claude", lines);
  expect(code).toBe(1);
  expect(err).toContain("claude and the log differ for 2031-03:");
  expect(err).toMatch(/Claude Haiku 4\.5 +2031-03-05 +\$20 +\$20\.6 +-\$0\.6 +-2\.91%/);
  expect(err).toMatch(/Claude Haiku 4\.5 +the month +/);
  expect(err).not.toContain("2031-03-04");
  expect(err).not.toContain("Opus");
  expect((await reconciled("claude", lines, "--tolerance", "3")).code).toBe(0);
  const json = JSON.parse((await reconciled("claude", lines, "--json", "--all")).out);
  expect(json.rows).toContainEqual({
    model: "Claude Haiku 4.5",
    day: "2031-03-05",
    log_usd: "20",
    provider_usd: "20.6",
    difference_usd: "-0.6",
    difference_percent: "-2.91",
    is_drift: true,
  });
  expect(json.rows).toHaveLength(6);
});

test("a model that only one side has is a drift", async () => {
  const { code, err } = await reconciled("openai", [
    OPENAI,
    openAiRow(MARCH_4, "0.5", '"gpt-5-mini, output"'),
    openAiRow(MARCH_4, "0.02", '"o9, output"'),
  ]);
  expect(code).toBe(1);
  expect(err).toMatch(/o9 +2031-03-04 +nothing +\$0\.02/);
  expect(err).toMatch(/gpt-5-nano +2031-03-04 +\$0\.00383598 +nothing/);
});

test("calls without a known cost are named", async () => {
  await world.database.sql`UPDATE margin_days SET calls = calls + 2 WHERE model = 'routed'`;
  const lines = ["Date,Slug,Usage", "2031-03-12,anthropic/claude-opus-4.7,430.07"];
  const { code, out } = await reconciled("router", lines);
  expect([code, out]).toEqual([0, expect.stringContaining("2 calls have no known cost")]);
});

test("a file that cannot be read is refused by line and column, and ends with 2", async () => {
  const good = anthropicRow("2031-03-04", "Claude Haiku 4.5", "0.05");
  const wrong: readonly (readonly [lines: readonly string[], named: RegExp])[] = [
    [["day,cost"], /export\.csv line 1: no known export has these columns. Known are OpenAI/],
    [[""], /export\.csv line 1: no known export/],
    [[ANTHROPIC, good, anthropicRow("2031-03-04", "m", "many")], /line 3, cost_usd: must be an am/],
    [[ANTHROPIC, anthropicRow("2031-03-04", "m", "-1")], /line 2, cost_usd: must be an amount/],
    [[ANTHROPIC, anthropicRow("2031-02-30", "m", "1")], /line 2, usage_date_utc: must be a day/],
    [[ANTHROPIC, "2031-03-04,m"], /line 2: has 2 cells, and the header 12/],
    [[ANTHROPIC, '"2031-03-04'], /line 2: a quote is never closed/],
    [[OPENAI, openAiRow(MARCH_4, "1", "")], /line 2, line_item: is empty: group the export/],
    [[OPENAI, `${MARCH_4},,,,1,eur,m,`], /line 2, amount_currency: must be usd/],
    [[OPENAI, "soon,,,,1,usd,m,"], /line 2, start_time: must be a time in seconds/],
    [
      ["created_at,cost_total,model_permaslug", "2031-03-12T10:00:00+02:00,1,m"],
      /line 2, created_at: must be a day or a time in UTC/,
    ],
  ];
  for (const [lines, named] of wrong) {
    const { code, err } = await reconciled("claude", lines);
    expect([code, err]).toEqual([2, expect.stringMatching(named)]);
  }
  const unknown = await reconciled("nobody", [ANTHROPIC, good]);
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("no provider 'nobody'")]);
});

test("names of one model have one key, and names of two have two", () => {
  const same = [
    ["claude-haiku-4-5-20251001", "Claude Haiku 4.5", "anthropic/claude-4.5-haiku"],
    ["gpt-5-mini", "gpt-5-mini-2025-08-07", "openai/gpt-5-mini"],
    ["claude-3-5-haiku-latest", "Claude Haiku 3.5"],
  ];
  for (const names of same) expect(new Set(names.map(modelKey)).size).toBe(1);
  const other = ["gpt-5.4", "gpt-4.5", "gpt-4", "gpt-4o", "gpt-4-mini", "qwen:free", "qwen"];
  expect(new Set(other.map(modelKey)).size).toBe(other.length);
});

test("cells of CSV may hold commas, quotes and line ends, and rows keep their lines", () => {
  const rows = csvRows('a,b\r\n"1,\n""x""",2\n\n,\n', "f");
  expect(rows).toEqual([
    { line: 1, cells: ["a", "b"] },
    { line: 2, cells: ['1,\n"x"', "2"] },
    { line: 5, cells: ["", ""] },
  ]);
  expect(() => csvRows('a\n"b"c', "f")).toThrow("f line 2: after a quote");
});

test("amounts of an export are exact", () => {
  const text = "created_at,cost_total,model_permaslug\n2031-03-12,1.004e-05,m\n";
  const [line] = readUsageExport(text, "f").lines;
  expect(line?.cost).toEqual({ digits: 1004n, scale: 8 });
});
