import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { price } from "../../../src/core/money/money.ts";
import { GUIDE_MODEL, GUIDE_PROVIDER } from "../../../src/services/chat/models/catalogue.ts";
import { CatalogueFile, catalogueJsonSchema } from "../../../src/settings/catalogue-document.ts";
import { CatalogueError, parseCatalogue } from "../../../src/settings/catalogue-file.ts";
import type { Environment } from "../../../src/settings/environment.ts";
import { launcherHome } from "../../support/product/launcher.ts";

const DOCS = join(import.meta.dir, "../../../docs");

const GOOD = `{
  "providers": {
    "one": {
      "base_url": "https://one.example/v1/",
      "api_key_env": "ONE_KEY"
    },
    "two": { "base_url": "http://127.0.0.1:9000/v1" }
  },
  "models": [
    {
      "id": "m1",
      "label": "M 1",
      "family": "m",
      "owned_by": "o",
      "context_length": 1000,
      "pricing": [
        { "prompt_tokens_max": 100, "input_usd_per_m": "0.1", "output_usd_per_m": 0.4 },
        {
          "prompt_tokens_max": 200,
          "input_usd_per_m": 0.1234567e0,
          "output_usd_per_m": "1"
        },
        { "input_usd_per_m": "2", "output_usd_per_m": "3", "cached_input_usd_per_m": "0.5" }
      ],
      "routes": [
        { "provider": "one", "model": "m-one" },
        { "provider": "two", "model": "m-two" }
      ]
    }
  ]
}
`.replace("0.1234567e0", "0.123456");

const ENV: Environment = { ONE_KEY: "  secret-1  " };

function refusal(text: string, env: Environment = ENV): CatalogueError {
  try {
    parseCatalogue(text, env);
  } catch (error) {
    if (error instanceof CatalogueError) return error;
    throw error;
  }
  throw new Error("The file was not refused");
}

/** The refusal of the good file with one change, by its line. */
function refusalOf(from: string, to: string): readonly [line: number | null, message: string] {
  expect(GOOD).toContain(from);
  const { line, message } = refusal(GOOD.replace(from, to));
  return [line, message];
}

describe("a good file", () => {
  test("becomes models and providers, with the guide after them", () => {
    const { models, providers } = parseCatalogue(GOOD, ENV);
    expect([...models.keys()]).toEqual(["m1", GUIDE_MODEL]);
    expect([...providers.keys()]).toEqual(["one", "two", GUIDE_PROVIDER]);
    expect(models.get("m1")).toMatchObject({
      label: "M 1",
      contextTokens: 1000,
      freeCreditEligible: false,
      routes: [
        { provider: "one", model: "m-one" },
        { provider: "two", model: "m-two" },
      ],
    });
    expect(providers.get("one")).toMatchObject({
      baseUrl: "https://one.example/v1",
      apiKey: "secret-1",
      maxTokensField: "max_tokens",
      concurrencyMax: 256,
    });
    expect(providers.get("two")?.apiKey).toBeNull();
  });

  test("gives prices exactly as they are written, numbers too", () => {
    const rows = parseCatalogue(GOOD, ENV).models.get("m1")?.prices.rows;
    expect(rows?.map(({ input }) => input)).toEqual(
      ["0.1", "0.123456", "2"].map((usd) => price(usd, 1_000_000)),
    );
    expect(rows?.[0]?.output).toBe(price("0.4", 1_000_000));
    expect(rows?.map(({ cachedInput }) => cachedInput)).toEqual([
      null,
      null,
      price("0.5", 1_000_000),
    ]);
    expect(rows?.map(({ when }) => when?.abovePromptTokens)).toEqual([undefined, 100, 200]);
  });

  test("has a buying price for a route that names one, in bands too", () => {
    const text = GOOD.replace(
      '"model": "m-one" }',
      `"model": "m-one", "buying": [
        { "prompt_tokens_max": 50, "input_usd_per_m": 0.05, "output_usd_per_m": "0.2" },
        { "input_usd_per_m": "1", "output_usd_per_m": "2" }
      ] }`,
    );
    const [one, two] = parseCatalogue(text, ENV).models.get("m1")?.routes ?? [];
    expect(one?.buying?.rows.map(({ input }) => input)).toEqual([
      price("0.05", 1_000_000),
      price("1", 1_000_000),
    ]);
    expect(two).toEqual({ provider: "two", model: "m-two" });
    const bad = text.replace('"0.2"', '"much"');
    expect(refusal(bad).message).toContain("models[0].routes[0].buying[0].output_usd_per_m");
    const unordered = text.replace('"prompt_tokens_max": 50, ', "");
    expect(refusal(unordered).message).toContain("buying[0].prompt_tokens_max is missing");
  });

  test("may begin with a byte order mark and have no models", () => {
    const { models } = parseCatalogue('\ufeff{ "providers": {}, "models": [] }', {});
    expect([...models.keys()]).toEqual([GUIDE_MODEL]);
  });
});

for (const [serves, provider, needed] of [
  ["embedding", "anthropic", "embeddings, which needs an OpenAI-compatible provider"],
  ["embedding", "cohere", "embeddings, which needs an OpenAI-compatible provider"],
  ["rerank", "google", "reranking, which needs an OpenAI-compatible provider or Cohere"],
] as const) {
  test(`a model that serves ${serves} by ${provider} is refused by line and field`, () => {
    const file = GOOD.replace('"id": "m1",', `"id": "m1", "serves": "${serves}",`).replace(
      '"two": {',
      `"two": { "provider": "${provider}", "api_key_env": "ONE_KEY",`,
    );
    expect(refusal(file).message).toContain(
      `line 27: models[0].routes[1].provider 'two' cannot serve ${needed}`,
    );
  });
}

test("a price of moderations above 0 is refused by line and field", () => {
  const moderating = GOOD.replace('"id": "m1",', '"id": "m1", "serves": "moderation",');
  expect(refusal(moderating).message).toContain(
    "models[0].pricing must be 0: moderations cost callers nothing",
  );
  const free = moderating.replace(
    /"((?:cached_)?input|output)_usd_per_m": [^,\s}]+/g,
    '"$1_usd_per_m": 0',
  );
  expect(parseCatalogue(free, ENV).models.get("m1")?.serves).toBe("moderation");
});

test("Cohere serves ranks", () => {
  const file = GOOD.replace('"id": "m1",', '"id": "m1", "serves": "rerank",').replace(
    '"two": {',
    '"two": { "provider": "cohere", "api_key_env": "ONE_KEY",',
  );
  expect(parseCatalogue(file, ENV).models.get("m1")?.serves).toBe("rerank");
});

test("a model serves its file's services; auto has no rules for one that serves no chat", () => {
  const file = GOOD.replace('"id": "m1",', '"id": "m1", "serves": "embedding",');
  expect(parseCatalogue(file, ENV).models.get("m1")?.serves).toBe("embedding");
  const auto = '"auto": { "models": { "m1": {} } }';
  expect(() => parseCatalogue(file.replace(/\}\s*$/, `, ${auto} }`), ENV)).toThrow(
    "auto.models.m1 does not serve chat",
  );
});

describe("the choice of auto", () => {
  const withAuto = (auto: object) =>
    parseCatalogue(GOOD.replace(/\}\s*$/, `, "auto": ${JSON.stringify(auto)} }`), ENV);

  test("is balanced by default, with equal terms for every model", () => {
    const { auto } = parseCatalogue(GOOD, ENV);
    expect(auto.policy).toBe("balanced");
    expect([...auto.models.keys()]).toEqual([GUIDE_MODEL]);
  });

  test("has the policy and the terms of the file", () => {
    const { auto } = withAuto({
      policy: "quality",
      models: { m1: { quality: 7, tools: false, prompt_tokens_min: 5, excluded: true } },
    });
    expect(auto.policy).toBe("quality");
    expect(auto.models.get("m1")).toEqual({
      quality: 7,
      tools: false,
      promptTokensMin: 5,
      promptTokensMax: Number.POSITIVE_INFINITY,
      excluded: true,
    });
  });

  test.each([
    [{ policy: "best" }, 'auto.policy must be "cheapest", "balanced" or "quality"'],
    [{ models: { m9: {} } }, "auto.models.m9 is no model of this file"],
    [{ models: { [GUIDE_MODEL]: {} } }, "is no model of this file"],
    [{ models: { m1: { quality: 101 } } }, "auto.models.m1.quality must be a whole number from 0"],
    [{ models: { m1: { rank: 1 } } }, "auto.models.m1.rank is not allowed here"],
    [
      { models: { m1: { prompt_tokens_min: 9, prompt_tokens_max: 8 } } },
      "auto.models.m1.prompt_tokens_max must not be less than prompt_tokens_min",
    ],
  ])("is refused as %j", (auto, told) => {
    expect(() => withAuto(auto)).toThrow(told);
  });
});

describe("a wrong file is refused by line", () => {
  const extra = (names: string) => `"id": "m1", "extra_parameters": ${names},`;
  const cases: readonly (readonly [name: string, from: string, to: string, refused: string])[] = [
    [
      "an extra parameter that Farebox reads itself",
      '"id": "m1",',
      extra('["top_k", "n"]'),
      "line 11: models[0].extra_parameters[1] 'n' is read by Farebox itself",
    ],
    [
      "an extra parameter that multiplies the output",
      '"id": "m1",',
      extra('["best_of"]'),
      "line 11: models[0].extra_parameters[0] 'best_of' could cost more than is reserved",
    ],
    // The first replaces max_tokens at llama.cpp's server; searches cost extra at their sellers.
    ...["n_predict", "n_cmpl", "search_parameters", "enable_search"].map(
      (name) =>
        [
          `the extra parameter ${name}`,
          '"id": "m1",',
          extra(`["${name}"]`),
          `line 11: models[0].extra_parameters[0] '${name}' could cost more than is reserved`,
        ] as const,
    ),
    [
      "an extra parameter that is no name",
      '"id": "m1",',
      extra('["__proto__"]'),
      "line 11: models[0].extra_parameters[0] must be the name of a parameter",
    ],
    [
      "reasoning that is neither hidden nor shown",
      '"id": "m1",',
      '"id": "m1", "reasoning": "some",',
      'line 11: models[0].reasoning must be "hide" or "show"',
    ],
    [
      "a use that models do not have",
      '"id": "m1",',
      '"id": "m1", "serves": "images",',
      "line 11: models[0].serves must be one of chat, embedding, rerank, moderation",
    ],
    ["a misspelt key", '"family"', '"famly"', "line 13: models[0].famly is not allowed here"],
    ["a missing key", '"family": "m",', "", "line 10: models[0].family is missing"],
    [
      "an unknown key",
      '"id": "m1",',
      '"id": "m1", "free": true,',
      "line 11: models[0].free is not allowed here",
    ],
    [
      "an unknown key of a provider",
      '"api_key_env": "ONE_KEY"',
      '"api_key": "abc"',
      "line 5: providers.one.api_key is not allowed here",
    ],
    [
      "an unknown provider",
      '"provider": "two"',
      '"provider": "tow"',
      "line 27: models[0].routes[1].provider 'tow' is not a provider",
    ],
    [
      "a missing environment variable",
      "ONE_KEY",
      "OTHER_KEY",
      "line 5: providers.one.api_key_env names an environment variable 'OTHER_KEY' that is not set",
    ],
    [
      "a URL of another kind",
      "https://one.example/v1/",
      "ftp://one.example",
      "line 4: providers.one.base_url must be an http or https URL",
    ],
    [
      "credentials in a URL",
      "https://one",
      "https://me:pass@one",
      "line 4: providers.one.base_url must hold no credentials: use api_key_env",
    ],
    [
      "a query in a URL",
      "/v1/",
      "/v1/?key=abc",
      "line 4: providers.one.base_url must hold no query and no fragment",
    ],
    [
      "bands out of order",
      '"prompt_tokens_max": 200',
      '"prompt_tokens_max": 100',
      "line 19: models[0].pricing[1].prompt_tokens_max must be more than 100, the band before",
    ],
    [
      "a price with too many decimals",
      "0.123456",
      "0.1234567",
      "line 20: models[0].pricing[1].input_usd_per_m must be a decimal USD amount from 0 to " +
        "10000, with at most 6 decimals",
    ],
    [
      "a price that a float would take",
      "0.123456",
      "1e-1",
      "line 20: models[0].pricing[1].input_usd_per_m must be a decimal USD amount from 0 to " +
        "10000, with at most 6 decimals",
    ],
    ...['"100000"', "100000", '"250000.5"', '"1000000"', '"0.1234567"'].map(
      (amount): [string, string, string, string] => [
        `a price of ${amount}`,
        '"output_usd_per_m": "1"',
        `"output_usd_per_m": ${amount}`,
        "line 21: models[0].pricing[1].output_usd_per_m must be a decimal USD amount from 0 to " +
          "10000, with at most 6 decimals",
      ],
    ),
    [
      "a price in words",
      '"output_usd_per_m": "1"',
      '"output_usd_per_m": "cheap"',
      "line 21: models[0].pricing[1].output_usd_per_m must be a decimal USD amount with at most " +
        '6 decimals, such as "0.15"',
    ],
    [
      "a reserved model",
      '"id": "m1"',
      '"id": "farebox-guide"',
      "line 11: models[0].id 'farebox-guide' is reserved for Farebox itself",
    ],
    [
      "a context length in words",
      "1000",
      '"1k"',
      "line 15: models[0].context_length must be a whole number from 256 to 100000000",
    ],
    [
      "a key twice",
      '"family": "m"',
      '"id": "m"',
      "line 13: it is not JSON: The key 'id' stands twice",
    ],
    [
      "a comma too many",
      '"owned_by": "o",',
      '"owned_by": "o",,',
      "line 14: it is not JSON: Found ',' in place of a key in double quotes",
    ],
    [
      "a comma too few",
      '"label": "M 1",',
      '"label": "M 1"',
      "line 13: it is not JSON: Found '\"' in place of a comma",
    ],
  ];
  for (const [name, from, to, refused] of cases) {
    test(name, () => {
      const [line, message] = refusalOf(from, to);
      expect(message).toBe(`farebox.config.json ${refused}`);
      expect(message).toContain(`line ${line}:`);
    });
  }

  test("a model twice, by the line of the second", () => {
    const model =
      /\{\s+"id": "m1",[\s\S]*\}\n {2}\]/.exec(GOOD)?.[0].replace(/\n {2}\]$/, "") ?? "";
    const { line, message } = refusal(GOOD.replace(model, `${model},\n${model}`));
    expect(message).toContain("models[1].id 'm1' stands twice");
    expect(line).toBe(31);
  });

  test("the last band with a limit, or another without one", () => {
    const limited = { input_usd_per_m: "1", output_usd_per_m: "1", prompt_tokens_max: 5 };
    const open = { input_usd_per_m: "1", output_usd_per_m: "1" };
    const withBands = (bands: readonly object[]) =>
      GOOD.replace(/"pricing": \[[\s\S]*?\n {6}\]/, `"pricing": ${JSON.stringify(bands)}`);
    expect(refusal(withBands([open, limited])).message).toContain(
      "pricing[0].prompt_tokens_max is missing",
    );
    expect(refusal(withBands([limited])).message).toContain("must be left out in the last band");
    expect(refusal(withBands([])).message).toContain("must be a list of 1 to 16 price bands");
  });

  test("a file that is not a configuration at all", () => {
    for (const text of ["", "[]", "null", "{", '{"models":[]}', "{'a':1}", '{"providers":{}}']) {
      expect(refusal(text).line).toBe(1);
    }
    expect(refusal("[".repeat(100_000)).message).toContain("at most 32 levels");
  });

  test("keys such as __proto__ mean nothing", () => {
    const text = '{ "providers": {}, "models": [],\n "__proto__": { "models": [] } }';
    expect(refusal(text).message).toBe("farebox.config.json line 2: __proto__ is not allowed here");
  });

  test("without repeating a secret that is in the wrong place", () => {
    const inPlace = refusalOf("ONE_KEY", "gsk_4fQ8zz0secret")[1];
    expect(inPlace).not.toContain("gsk_4fQ8zz0secret");
    const { message } = refusal(GOOD, { ONE_KEY: "two words\nand a line" });
    expect(message).toContain("'ONE_KEY', whose value cannot be sent as a key");
    expect(message).not.toContain("two words");
  });

  test("all keys that the environment lacks at once, each by its line", () => {
    const server = '"base_url": "https://more.example"';
    const more = `{ "kind": "brave", "api_key_env": "SEARCH_KEY" }`;
    const maps = `"places": { "kind": "tomtom", ${server}, "api_key_env": "MAPS_KEY" }`;
    const sections = `"search": { "providers": [${more}] },\n"maps": { "providers": { ${maps} } },`;
    const text = GOOD.replace('"models": [', `${sections}\n"models": [`);
    const { line, message } = refusal(text, { MAPS_KEY_FILE: "/none" });
    expect(line).toBe(5);
    expect(message.split("\n")).toEqual([
      "farebox.config.json line 5: providers.one.api_key_env names an environment variable " +
        "'ONE_KEY' that is not set",
      "farebox.config.json line 9: search.providers[0].api_key_env names an environment variable " +
        "'SEARCH_KEY' that is not set",
      "farebox.config.json line 10: maps.providers.places.api_key_env cannot be read: " +
        "MAPS_KEY_FILE names '/none', which cannot be read",
    ]);
  });

  test("an API key can be in a file", () => {
    using folder = launcherHome();
    const file = join(folder.path, "key");
    writeFileSync(file, "secret-2\n");
    const { providers } = parseCatalogue(GOOD, { ONE_KEY_FILE: file });
    expect([...providers.values()].map(({ apiKey }) => apiKey)).toContain("secret-2");
    expect(refusal(GOOD, { ONE_KEY_FILE: "/none" }).message).toContain(
      "api_key_env cannot be read: ONE_KEY_FILE names '/none', which cannot be read",
    );
  });
});

describe("the pages", () => {
  // To renew it: npm run docs.
  test("docs/farebox.config.schema.json is the schema that files are checked by", async () => {
    const stored: unknown = JSON.parse(
      await readFile(join(DOCS, "farebox.config.schema.json"), "utf8"),
    );
    expect(stored).toEqual(catalogueJsonSchema());
  });

  test("docs/farebox.config.example.json is a good file", async () => {
    const text = await readFile(join(DOCS, "farebox.config.example.json"), "utf8");
    expect(Value.Check(CatalogueFile, JSON.parse(text))).toBe(true);
    const { models, maps } = parseCatalogue(text, { MAIN_API_KEY: "k", TOMTOM_API_KEY: "k" });
    expect([...models.keys()]).toEqual(["swift-1", "deep-2", GUIDE_MODEL]);
    expect(maps.providers.get("geocode")).toEqual(["places", "embedded"]);
  });

  test("the example of docs/configuration.md is a good file", async () => {
    const page = await readFile(join(DOCS, "configuration.md"), "utf8");
    const example = /```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
    expect([...parseCatalogue(example, { MAIN_API_KEY: "k" }).models.keys()]).toContain("swift-1");
  });

  test("docs/configuration.md names the file that npm start reads, and every field", async () => {
    const page = await readFile(join(DOCS, "configuration.md"), "utf8");
    const start = await readFile(join(DOCS, "../scripts/local/welcome.mjs"), "utf8");
    const usage = /USAGE = `([\s\S]*?)`;/.exec(start)?.[1] ?? "";
    const said = [...usage.matchAll(/\b[A-Z]+_?[A-Z]+\b(?= {2,})/g)].map(([name]) => name);
    expect(said.length).toBeGreaterThan(3);
    for (const name of said) expect(page).toMatch(new RegExp(`^\\| \`${name}\`[ ,]`, "m"));
    const fields = JSON.stringify(catalogueJsonSchema()).matchAll(/"([a-z]+(?:_[a-z0-9]+)+)":/g);
    const brand = await readFile(join(DOCS, "brand.md"), "utf8");
    for (const [, field] of fields) expect(page + brand).toContain(String(field));
  });
});
