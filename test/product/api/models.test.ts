import { expect, test } from "bun:test";
import { newKey } from "../../../src/core/access/keys.ts";
import { pricesOf } from "../../../src/core/money/call-cost.ts";
import { price } from "../../../src/core/money/money.ts";
import { bandPrices } from "../../../src/services/chat/models/catalogue.ts";
import { type Catalogue, catalogueOf } from "../../../src/settings/catalogue.ts";
import { parseCatalogue } from "../../../src/settings/catalogue-file.ts";
import { ApiWorld } from "../../support/api/api-world.ts";
import { appAlone } from "../../support/api/app-alone.ts";
import { MODEL } from "../../support/api/models.ts";
import { random } from "../../support/random.ts";

let catalogue: Catalogue = catalogueOf([MODEL], []);

const api = appAlone({ catalogue: () => catalogue });

interface List {
  readonly data: readonly { readonly id: string; readonly svc: { readonly pricing: object } }[];
}

test("GET /v1/models shows the prices of the moment, exactly", async () => {
  const cheap = bandPrices({ input: "0.0375", output: "0.00001", cachedInput: "0.000001" });
  const before = catalogue;
  catalogue = catalogueOf([{ ...MODEL, prices: cheap }], []);
  try {
    const text = await (await api.get("/v1/models")).text();
    expect(text).toContain(
      '{"input_usd_per_m":0.0375,"output_usd_per_m":0.00001,"cached_input_usd_per_m":0.000001}',
    );
  } finally {
    catalogue = before;
  }
});

test("GET /v1/models lists the bands of a model with a higher price for long prompts", async () => {
  const before = catalogue;
  const prices = bandPrices(
    { input: "1", output: "2", promptTokensMax: 1000 },
    { input: "3", output: "4" },
  );
  catalogue = catalogueOf([{ ...MODEL, prices }], []);
  try {
    const { data } = (await (await api.get("/v1/models")).json()) as List;
    expect(data[0]?.svc.pricing).toMatchObject({
      input_usd_per_m: 1,
      bands: [
        { prompt_tokens_max: 1000, input_usd_per_m: 1, output_usd_per_m: 2 },
        { prompt_tokens_max: null, input_usd_per_m: 3, output_usd_per_m: 4 },
      ],
    });
  } finally {
    catalogue = before;
  }
});

/** All conditions, parts and kinds of fees that a row of the configuration can have. */
const EVERY_CONDITION = {
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
const ROW = { input_usd_per_m: 4, output_usd_per_m: 8, cached_input_usd_per_m: 0.4 };
const PARTS = {
  cached_audio_usd_per_m: 0.5,
  cache_write_5m_usd_per_m: 5,
  cache_write_30m_usd_per_m: 5.5,
  cache_write_1h_usd_per_m: 6,
  cache_write_24h_usd_per_m: 7,
  image_input_usd_per_m: 2,
  audio_input_usd_per_m: 3,
  image_output_usd_per_m: 30,
  audio_output_usd_per_m: 40,
};
const FEES = {
  request: { usd_per_k: 1, per: "call" },
  web_search: { usd_per_k: 10, per: "query" },
  file_search: { usd_per_k: 2.5, per: "request" },
};

test("GET /v1/models lists price rows as they are configured: parts, fees, selectors", async () => {
  const rows = [
    { ...ROW, fees: FEES },
    { ...ROW, ...PARTS, when: { tier: "flex" } },
    { ...ROW, ...PARTS, fees: FEES, when: EVERY_CONDITION },
    // The price of a cached prompt is that of any prompt, since the row names none.
    { input_usd_per_m: 1, output_usd_per_m: 2, when: { utc_hours: [[0, 8]] } },
  ];
  const model = {
    id: "m1",
    label: "M 1",
    family: "m",
    owned_by: "o",
    context_length: 500_000,
    prices: rows,
    routes: [{ provider: "one", model: "m-one" }],
  };
  const providers = { one: { base_url: "http://127.0.0.1:9/v1" } };
  const before = catalogue;
  catalogue = parseCatalogue(JSON.stringify({ providers, models: [model] }), {});
  try {
    const { data } = (await (await api.get("/v1/models")).json()) as List;
    const [entry] = data;
    // A row without fees has those of the first row.
    const shown = rows.map((row) => ({ cached_input_usd_per_m: null, fees: FEES, ...row }));
    expect(entry?.svc.pricing).toEqual({ ...ROW, prices: shown });
    expect(await (await api.get("/v1/models/m1")).json()).toEqual(entry);
  } finally {
    catalogue = before;
  }
});

test("GET /v1/models lists rows, not bands, where more than the prompt decides", async () => {
  const plain = { input: price("1", 1_000_000), output: price("2", 1_000_000), cachedInput: null };
  const long = { ...plain, when: { abovePromptTokens: 100 } };
  const before = catalogue;
  try {
    for (const rows of [
      [plain, { ...plain, when: { tier: "flex" } }],
      // Bands begin with the shortest prompts.
      [plain, { ...plain, when: { abovePromptTokens: 200 } }, long],
      [plain, { ...plain, when: { abovePromptTokens: 200, tier: "flex" } }],
    ] as const) {
      catalogue = catalogueOf([{ ...MODEL, prices: pricesOf(rows) }], []);
      const { data } = (await (await api.get("/v1/models")).json()) as List;
      expect(data[0]?.svc.pricing).not.toHaveProperty("bands");
      expect(data[0]?.svc.pricing).toHaveProperty("prices.length", rows.length);
    }
    catalogue = catalogueOf([{ ...MODEL, prices: pricesOf([plain, long]) }], []);
    const { data } = (await (await api.get("/v1/models")).json()) as List;
    expect(data[0]?.svc.pricing).toHaveProperty("bands.length", 2);
  } finally {
    catalogue = before;
  }
});

test("GET /v1/models and the refusals that need no account go on while Redis is gone", async () => {
  await using other = await ApiWorld.start();
  await other.parts.stores.server.stop();
  const paths = ["/v1/models", "/v1/me", "/v1/nothing", "/healthz", "/readyz"];
  const responses = await Promise.all(paths.map((path) => other.get(path)));
  expect(responses.map(({ status }) => status)).toEqual([200, 401, 404, 200, 503]);
  expect(responses[0]?.headers.get("x-ratelimit-remaining-requests")).toBe("60");
  expect(await responses[4]?.json()).toMatchObject({
    status: "unavailable",
    checks: { redis: expect.stringMatching(/^(failed|late)$/) },
  });
});

test("a paid call while Redis is gone is refused with service_unavailable, not lost", async () => {
  await using other = await ApiWorld.start();
  const account = await other.account();
  await other.parts.stores.server.stop();
  const response = await other.post(account, {
    model: MODEL.id,
    messages: [{ role: "user", content: "x" }],
  });
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ error: { code: "service_unavailable" } });
  expect(response.headers.get("x-ratelimit-limit-requests")).not.toBeNull();
  expect(other.chat.requests).toHaveLength(0);
});

test("a key that cannot be looked up is service_unavailable and not invalid", async () => {
  const find = () => Promise.reject(new Error("secret address of the database"));
  const keys = { known: () => undefined, find, forget: () => {} };
  const authorization = `Bearer ${newKey("gateway", random)}`;
  const response = await appAlone({ keys }).get("/v1/me", { authorization });
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
  expect(await response.text()).not.toContain("secret");
});
