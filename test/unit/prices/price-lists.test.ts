// Tests readings of price lists: exact decimals, refused prices, and the prices of a moment.

import { expect, test } from "bun:test";
import { crossCheck } from "../../../src/annexes/prices/cross-check.ts";
import { readFileList } from "../../../src/annexes/prices/file-lists.ts";
import { feePrice, type PriceList, tokenPrice } from "../../../src/annexes/prices/listed-prices.ts";
import {
  genaiList,
  PACKAGE_LISTS,
  readPackageList,
} from "../../../src/annexes/prices/package-lists.ts";
import { decimalPerMillion, decimalPerThousand } from "../../../src/core/money/money.ts";
import type { Part } from "../../../src/core/money/usage.ts";

const NOW_MS = Date.parse("2026-11-28T12:00:00Z");

const perToken = (value: unknown) => decimalPerMillion(tokenPrice(value, "input", 1));
const perMillion = (value: unknown) => decimalPerMillion(tokenPrice(value, "input", 1_000_000));

/** The prices of a row of the first model, per million. */
function pricesOf(list: PriceList, row = 0): Partial<Record<Part, string>> {
  const parts = Object.entries(list.models[0]?.rows[row]?.parts ?? {});
  return Object.fromEntries(parts.map(([part, one]) => [part, decimalPerMillion(one)]));
}

test("a price of a list has the digits of its number, and none that a float added", () => {
  expect(perToken(1e-7)).toBe("0.1");
  expect(perToken(2.5e-8)).toBe("0.025");
  expect(perToken(1.8000000000000001e-6)).toBe("1.8");
  expect(perToken(4.6999999999999995e-7)).toBe("0.47");
  expect(perMillion(0.1 + 0.2)).toBe("0.3");
  expect(perMillion(0.07 * 100)).toBe("7");
  expect(perMillion(0.003625)).toBe("0.003625");
  expect(perMillion("0.15")).toBe("0.15");
  expect(perMillion(0)).toBe("0");
  expect(decimalPerThousand(feePrice(0.035, "search", 1))).toBe("35");
});

test("a price finer than the configuration can say is rounded up", () => {
  expect(perToken(2.857142857142857e-7)).toBe("0.285715");
  expect(perMillion(1e-9)).toBe("0.000001");
});

test("a poisoned price is refused by its field", () => {
  const wrong = [-1, -1e-9, Number.NaN, Number.POSITIVE_INFINITY, 1e9, "1e400", "free", null, {}];
  for (const value of wrong) expect(() => perMillion(value)).toThrow("input");
  // The price of a million tokens in place of that of one.
  expect(() => perToken(1.25)).toThrow("input is out of range: 1.25");
  expect(() => feePrice(-1, "web_search", 1_000)).toThrow("web_search");
});

test("a model with a poisoned price is named, and the others are read", () => {
  const list = readFileList(
    JSON.stringify({
      bad: {
        litellm_provider: "openai",
        input_cost_per_token: -1,
        output_cost_per_token: 0.000001,
      },
      worse: { litellm_provider: "openai", input_cost_per_token: 1e9, output_cost_per_token: 1e-6 },
      good: { litellm_provider: "openai", input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
    }),
    "map.json",
    NOW_MS,
  );
  expect(new Set(list.models.flatMap(({ names }) => names))).toEqual(new Set(["good"]));
  const found = crossCheck([list], "openai", "bad");
  expect(found).toEqual({
    is: "unlisted",
    faults: ["litellm: input_cost_per_token is out of range: -1"],
  });
});

test("LiteLLM's map is read with lengths of the prompt, tiers and one fee for searches", () => {
  const list = readFileList(
    JSON.stringify({
      sample_spec: { litellm_provider: "one of the providers" },
      "gemini/gemini-3": {
        litellm_provider: "gemini",
        max_input_tokens: 1_048_576,
        input_cost_per_token: 2e-6,
        input_cost_per_token_above_200k_tokens: 4e-6,
        input_cost_per_token_flex: 1e-6,
        output_cost_per_token: 1.2e-5,
        cache_read_input_token_cost: 2e-7,
        search_context_cost_per_query: { search_context_size_low: 0.014 },
      },
    }),
    "map.json",
    NOW_MS,
  );
  const [model] = list.models;
  expect(model).toMatchObject({
    provider: "google",
    names: ["gemini-3"],
    contextTokens: 1_048_576,
  });
  expect(pricesOf(list)).toEqual({ uncached: "2", text: "12", cacheRead: "0.2" });
  expect(model?.rows.map(({ when }) => when)).toEqual([
    undefined,
    { abovePromptTokens: 200_000 },
    { tier: "flex" },
  ]);
  expect(pricesOf(list, 1)).toEqual({ uncached: "4", text: "12", cacheRead: "0.2" });
  expect(model?.rows[0]?.fees?.web_search).toMatchObject({ per: "call" });
});

test("model-prices is read at a moment, and not where it has factors for hours", () => {
  const rates = (input: number, output: number, more: object = {}) => ({ input, output, ...more });
  const list = readFileList(
    JSON.stringify({
      schema: 1,
      prices: {
        openai: {
          sol: {
            standard: [
              { start: null, rates: rates(5, 30) },
              {
                start: "2026-08-21T00:00:00Z",
                rates: rates(4, 20, { tiers: [{ above: 272_000, input: 8, output: 30 }] }),
              },
              { start: "2026-12-24T00:00:00Z", rates: rates(1, 2) },
            ],
            flex: [{ start: null, rates: rates(2, 10) }],
          },
          ended: {
            standard: [
              { start: null, rates: rates(1, 2) },
              { start: "2026-01-01", rates: null },
            ],
          },
        },
        deepseek: { v4: { standard: [{ start: null, rates: rates(0.22, 0.66) }] } },
      },
      schedules: { schedule: [{ provider: "deepseek", peak_multiplier: 2 }] },
    }),
    "snapshot.json",
    NOW_MS,
  );
  expect(list.models.map(({ names }) => names)).toEqual([["sol"], ["sol"]]);
  expect(pricesOf(list)).toEqual({ uncached: "4", text: "20" });
  expect(list.models[0]?.rows.slice(1).map(({ when }) => when)).toEqual([
    { abovePromptTokens: 272_000 },
    { tier: "flex" },
  ]);
  expect(list.faults).toEqual([
    {
      provider: "deepseek",
      names: ["v4"],
      problem: expect.stringContaining("by hours in factors"),
    },
  ]);
});

test("genai-prices is read by dates, hours, lengths, and names that it lists in full", () => {
  const list = genaiList(
    [
      {
        id: "anthropic",
        models: [
          {
            id: "claude-a",
            match: { or: [{ equals: "Claude-A-Latest" }, { starts_with: "claude-" }] },
            context_window: 200_000,
            prices: [
              { prices: { input_mtok: 9, output_mtok: 9 } },
              {
                constraint: { type: "start_date", start_date: "2026-09-01" },
                prices: {
                  input_mtok: { base: 1, tiers: [{ start: 199_999, price: 2 }] },
                  output_mtok: 5,
                  cache_write_mtok: 1.25,
                  web_searches_kcount: 10,
                },
              },
              {
                constraint: {
                  type: "time_of_date",
                  start_time: "01:00:00Z",
                  end_time: "04:00:00Z",
                },
                prices: { input_mtok: 3, output_mtok: 7 },
              },
              {
                constraint: { type: "start_date", start_date: "2027-01-01" },
                prices: { input_mtok: 0, output_mtok: 0 },
              },
            ],
          },
        ],
      },
    ],
    NOW_MS,
  );
  expect(list.models[0]?.names).toEqual(["claude-a", "claude-a-latest"]);
  expect(list.models[0]?.rows.map(({ when }) => when)).toEqual([
    undefined,
    { abovePromptTokens: 199_999 },
    { utcHours: [[1, 4]] },
  ]);
  expect(pricesOf(list)).toEqual({ uncached: "1", text: "5", cacheWrite5m: "1.25" });
  expect(pricesOf(list, 1)).toMatchObject({ uncached: "2", text: "5" });
  expect(crossCheck([list], "anthropic", "claude-a-20260901").is).toBe("checked");
  expect(crossCheck([list], "anthropic", "claude-b").is).toBe("unlisted");
});

test("the installed packages have prices of every provider that they are read for", async () => {
  for (const name of PACKAGE_LISTS) {
    const list = await readPackageList(name, NOW_MS);
    const providers = new Set(list.models.map(({ provider }) => provider));
    expect(providers.size).toBeGreaterThanOrEqual(10);
    expect(crossCheck([list], "openai", "gpt-5-mini").is).toBe("checked");
  }
});

test("a file that is no price list is refused by line or by its known parts", () => {
  const read = (text: string) => () => readFileList(text, "f.json", NOW_MS);
  expect(read("{")).toThrow(/f\.json line 1: it is not JSON/);
  expect(read('{\n"a": NaN}')).toThrow(/f\.json line 2: it is not JSON/);
  expect(read('{"a": 1,\n"a": 2}')).toThrow(/line 2: .*stands twice/);
  expect(read("[]")).toThrow("must be an object");
  expect(read("{}")).toThrow("has no price of a known provider");
});
