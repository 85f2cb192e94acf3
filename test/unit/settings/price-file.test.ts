// Tests prices in the configuration file, as rows with conditions.

import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { price } from "../../../src/core/money/money.ts";
import { configurationChanges } from "../../../src/settings/catalogue-changes.ts";
import { parseCatalogue } from "../../../src/settings/catalogue-file.ts";

const perMillion = (usd: string) => price(usd, 1_000_000);
const FIRST = { input_usd_per_m: "4", output_usd_per_m: "20" };
const FLEX = { when: { tier: "flex" }, input_usd_per_m: "2", output_usd_per_m: "10" };

const fileWith = (model: object, route: object = {}) =>
  JSON.stringify({
    providers: { main: { base_url: "https://models.example/v1" } },
    models: [
      {
        id: "m",
        label: "M",
        family: "m",
        owned_by: "example",
        context_length: 400_000,
        ...model,
        routes: [{ provider: "main", model: "m-1", ...route }],
      },
    ],
  });
const modelOf = (text: string) => parseCatalogue(text, {}).models.get("m");
const rowsOf = (rows: readonly object[]) => modelOf(fileWith({ prices: rows }))?.prices.rows;
const refusal = (model: object, route: object = {}): string => {
  try {
    parseCatalogue(fileWith(model, route), {});
    return "";
  } catch (error) {
    return String(error);
  }
};

describe("price rows", () => {
  test("have a price for each part, fees, and conditions", () => {
    const when = {
      above_prompt_tokens: 272_000,
      tier: "priority",
      speed: "fast",
      geography: "us",
      served_model: "m-large",
      utc_hours: [
        [1, 4],
        [22, 24],
      ],
      utc_days: ["mon", "sun"],
      except_utc_dates: ["2026-10-01"],
    };
    const parts = {
      cached_input_usd_per_m: "0.4",
      cached_audio_usd_per_m: "0.5",
      cache_write_5m_usd_per_m: "5",
      cache_write_30m_usd_per_m: 5.5,
      cache_write_1h_usd_per_m: "8",
      cache_write_24h_usd_per_m: "9",
      image_input_usd_per_m: "6",
      audio_input_usd_per_m: "30",
      image_output_usd_per_m: "40",
      audio_output_usd_per_m: "60",
    };
    const fees = { web_search: { usd_per_k: "10" }, request: { usd_per_k: 2.5, per: "request" } };
    const row = rowsOf([FIRST, { when, ...FIRST, ...parts, fees }])?.[1];
    expect(row?.when).toEqual({
      abovePromptTokens: 272_000,
      tier: "priority",
      speed: "fast",
      geography: "us",
      servedModel: "m-large",
      utcHours: [
        [1, 4],
        [22, 24],
      ],
      utcDays: [0, 6],
      notUtcDates: ["2026-10-01"],
    });
    expect(row?.of).toEqual({
      uncached: perMillion("4"),
      cacheRead: perMillion("0.4"),
      cacheReadAudio: perMillion("0.5"),
      cacheWrite5m: perMillion("5"),
      cacheWrite30m: perMillion("5.5"),
      cacheWrite1h: perMillion("8"),
      cacheWrite24h: perMillion("9"),
      imageIn: perMillion("6"),
      audioIn: perMillion("30"),
      text: perMillion("20"),
      imageOut: perMillion("40"),
      audioOut: perMillion("60"),
    });
    expect(row?.fees).toEqual({
      web_search: { price: price("10", 1_000), per: "call" },
      request: { price: price("2.5", 1_000), per: "request" },
    });
  });

  test("name the price of a route in the same form", () => {
    const text = fileWith({ prices: [FIRST] }, { buying_prices: [FIRST, FLEX] });
    expect(modelOf(text)?.routes[0]?.buying?.rows.map(({ input }) => input)).toEqual([
      perMillion("4"),
      perMillion("2"),
    ]);
  });

  test("mean the same as bands that say the same, whose version stays", () => {
    const bands = [
      { prompt_tokens_max: 1_000, ...FIRST },
      { input_usd_per_m: "8", output_usd_per_m: "30" },
    ];
    const rows = [FIRST, { when: { above_prompt_tokens: 1_000 }, ...bands[1] }];
    const banded = modelOf(fileWith({ pricing: bands }))?.prices;
    expect(banded?.rows).toEqual(modelOf(fileWith({ prices: rows }))?.prices.rows);
    // The version that calls before price rows were logged with.
    expect(banded?.version).toBe("6af10eaf");
  });

  const refusals: [why: string, model: object, message: string][] = [
    ["no prices", {}, "models[0].pricing is missing, and so is prices"],
    ["both forms", { pricing: [FIRST], prices: [FIRST] }, "prices must not stand beside pricing"],
    ["no rows", { prices: [] }, "prices must be a list of 1 to 16 price rows"],
    ["a first row with conditions", { prices: [FLEX] }, "prices[0].when must be left out in the"],
    ["a later row without", { prices: [FIRST, FIRST] }, "prices[1].when is missing"],
    ["no condition", { prices: [FIRST, { ...FIRST, when: {} }] }, "at least one condition"],
    ["an unknown tier", { prices: [FIRST, { ...FIRST, when: { tier: "x" } }] }, "must be one of"],
    [
      "an hour that ends before it begins",
      { prices: [FIRST, { ...FIRST, when: { utc_hours: [[4, 1]] } }] },
      "utc_hours[0] must be an hour and a later one",
    ],
    ...["2026-02-30", "2026-02-29", "2026-13-01", "2026-10-00"].map(
      (date): (typeof refusals)[number] => [
        `the impossible date ${date}`,
        { prices: [FIRST, { ...FIRST, when: { except_utc_dates: ["2028-02-29", date] } }] },
        "except_utc_dates[1] must be a date of the calendar",
      ],
    ),
    [
      "an unknown fee",
      { prices: [{ ...FIRST, fees: { coffee: { usd_per_k: 1 } } }] },
      "fees.coffee is not allowed here",
    ],
    [
      "a price that is too high",
      { prices: [{ ...FIRST, cache_write_1h_usd_per_m: "10001" }] },
      "cache_write_1h_usd_per_m must be a decimal USD amount from 0 to 10000",
    ],
  ];
  test.each(refusals)("are refused with %s", (_, model, message) => {
    expect(refusal(model)).toContain(message);
  });

  test("are refused for a route that has both forms", () => {
    const route = { buying: [FIRST], buying_prices: [FIRST] };
    expect(refusal({ prices: [FIRST] }, route)).toContain("must not stand beside buying");
  });
});

describe("a change of prices in words", () => {
  const changes = configurationChanges("new.json", {});
  const before = { version: 1, text: fileWith({ pricing: [FIRST] }) };

  test("names each row, its conditions, parts and fees", () => {
    const fees = { web_search: { usd_per_k: "10" }, request: { usd_per_k: "1" } };
    const first = { ...FIRST, cache_write_30m_usd_per_m: "5", fees };
    const late = { ...FLEX, when: { tier: "flex", utc_hours: [[1, 4]], utc_days: ["mon"] } };
    expect(changes(before, fileWith({ prices: [first, late] }))).toEqual([
      "model m: $4 in, $20 out -> $4 in, $20 out, $5 cache writes for 30 minutes, " +
        "$0.01 for each call of web_search, $0.001 for each request; " +
        "tier flex, 1-4 h UTC, mon: $2 in, $10 out, $0.01 for each call of web_search, " +
        "$0.001 for each request",
    ]);
  });

  test("is nothing where rows have the prices of bands", () => {
    expect(changes(before, fileWith({ prices: [FIRST] }))).toEqual([]);
  });

  test("names the price of a route", () => {
    const after = fileWith({ pricing: [FIRST] }, { buying_prices: [FIRST, FLEX] });
    expect(changes(before, after)).toEqual([
      "model m: by main/m-1 -> by main/m-1 at $4 in, $20 out; tier flex: $2 in, $10 out",
    ]);
  });
});

test("the price rows of docs/configuration.md are good ones", async () => {
  const page = await readFile(join(import.meta.dir, "../../../docs/configuration.md"), "utf8");
  const [, block = ""] = /### Price rows[\s\S]*?```json\n([\s\S]*?)```/.exec(page) ?? [];
  const rows = rowsOf(JSON.parse(`{${block}}`).prices);
  expect(rows?.map(({ when }) => when)).toEqual([
    undefined,
    { abovePromptTokens: 272_000 },
    { tier: "flex" },
    { tier: "priority" },
  ]);
  expect(rows?.[0]?.of.cacheWrite30m).toBe(perMillion("6.25"));
});
