// Tests `farebox prices`: lists that disagree, every guard, the rule of selling prices, and a file
// that keeps its comments and its order.

import { beforeEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseLocatedJson } from "../../../src/core/configuration/located-json.ts";
import { cliOf, environmentOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared, sharedFolder } from "../../support/shared.ts";
import { openWorld } from "../../support/stores/world.ts";
import { workIn } from "../../support/work-in.ts";

const folder = sharedFolder("prices");
const world = await shared(openWorld());
workIn(folder, { KEY: "sk-x", ...(await environmentOf(world)) });
const cli = await cliOf(world, { KEY: "sk-x" });

const CONFIGURATION = `{
  // The provider that we buy from.
  "providers": {
    "oa": { "provider": "openai", "api_key_env": "KEY" },
    "cl": { "provider": "anthropic", "api_key_env": "KEY", "markup_percent": "25" },
    "own": { "base_url": "http://127.0.0.1:9/v1" }
  },
  "models": [
    {
      "id": "mini", "label": "Mini", "family": "f", "owned_by": "o", "context_length": 1000,
      "pricing": [{ "input_usd_per_m": 0.3, "output_usd_per_m": "2.5" }], // by hand
      "routes": [
        {
          "provider": "oa",
          "model": "m-mini",
          // The buying price.
          "buying": [{ "output_usd_per_m": "2", "input_usd_per_m": 0.25 }]
        }
      ]
    },
    {
      "id": "haiku", "label": "Haiku", "family": "f", "owned_by": "o", "context_length": 1000,
      "prices": [
        { "input_usd_per_m": "1.25", "output_usd_per_m": "6.25" }
      ],
      "routes": [
        {
          "provider": "cl",
          "model": "haiku-20251001",
          "buying_prices": [
            { "input_usd_per_m": "1", "output_usd_per_m": "5" },
            { "when": { "tier": "batch" }, "input_usd_per_m": "0.5", "output_usd_per_m": "2.5" }
          ]
        }
      ]
    },
    {
      "id": "local", "label": "Local", "family": "f", "owned_by": "o", "context_length": 1000,
      "pricing": [{ "input_usd_per_m": "0.1", "output_usd_per_m": "0.1" }],
      "routes": [{ "provider": "own", "model": "m-mini" }]
    }
  ]
}
`;

beforeEach(() => writeFileSync(join(folder, "c.json"), CONFIGURATION));

interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cache_read?: number;
  readonly input_cost_per_request?: number;
  readonly max_input_tokens?: number;
}

/** Writes LiteLLM's map; prices are USD for a million tokens, as numbers of JSON. */
function liteLlm(models: Readonly<Record<string, Prices>>): void {
  const entries = Object.entries(models).map(([name, { input, output, cache_read, ...more }]) => [
    name,
    {
      litellm_provider: name === "haiku" ? "anthropic" : "openai",
      input_cost_per_token: input / 1e6,
      output_cost_per_token: output / 1e6,
      ...(cache_read !== undefined && { cache_read_input_token_cost: cache_read / 1e6 }),
      ...more,
    },
  ]);
  writeFileSync(join(folder, "l.json"), JSON.stringify(Object.fromEntries(entries)));
}

/** Writes the snapshot of model-prices. */
function modelPrices(models: Readonly<Record<string, Prices>>): void {
  const of = (wanted: boolean) =>
    Object.fromEntries(
      Object.entries(models)
        .filter(([name]) => (name === "haiku") === wanted)
        .map(([name, rates]) => [name, { standard: [{ start: null, rates }] }]),
    );
  const prices = { openai: of(false), anthropic: of(true) };
  writeFileSync(join(folder, "m.json"), JSON.stringify({ schema: 1, prices }));
}

const LISTS = ["--file", "l.json,m.json", "--lists", "litellm,model-prices"];
const check = async () => resultOf(await cli("prices", "check", "c.json", ...LISTS, "--json"));
const importing = async (...more: readonly string[]) =>
  await cli("prices", "import", "c.json", ...LISTS, ...more);
/** The file without its comments. */
// biome-ignore lint/suspicious/noExplicitAny: a test knows which fields are there
const written = (): any => parseLocatedJson(text()).value;
const text = () => readFileSync(join(folder, "c.json"), "utf8");

/** The output of a check, which ends with 1 if something is to change. */
// biome-ignore lint/suspicious/noExplicitAny: a test knows which fields are there
function resultOf({ code, out, err }: Awaited<ReturnType<typeof cli>>): any {
  return { code, ...JSON.parse(code === 0 ? out : err || out) };
}

function both(models: Readonly<Record<string, Prices>>): void {
  liteLlm(models);
  modelPrices(models);
}

const SAME = { "m-mini": { input: 0.25, output: 2 }, haiku: { input: 1, output: 5 } };

test("prices that agree with the lists end with 0, and nothing is written", async () => {
  both(SAME);
  expect(await check()).toMatchObject({ code: 0, changes: [] });
  expect((await importing("--models", "all")).out).toContain("no price changes");
  expect(text()).toBe(CONFIGURATION);
});

test("an accepted price replaces only its digits: comments, order and spaces stay", async () => {
  both({ ...SAME, "m-mini": { input: 0.28, output: 2.1 } });
  expect((await check()).changes).toEqual([
    "model mini: by oa/m-mini at $0.25 in, $2 out -> by oa/m-mini at $0.28 in, $2.1 out",
  ]);
  expect((await importing("--models", "haiku")).out).toContain("no price changes");
  expect(text()).toBe(CONFIGURATION);
  expect((await importing("--models", "mini", "--dry-run")).out).toContain("Nothing was written");
  expect(text()).toBe(CONFIGURATION);
  expect((await importing("--models", "mini")).code).toBe(0);
  expect(text()).toBe(
    CONFIGURATION.replace('"output_usd_per_m": "2", ', '"output_usd_per_m": "2.1", ').replace(
      '"input_usd_per_m": 0.25 }]',
      '"input_usd_per_m": "0.28" }]',
    ),
  );
});

test("lists that disagree change nothing, also with a yes, until one is chosen", async () => {
  liteLlm({ ...SAME, "m-mini": { input: 0.26, output: 2 } });
  modelPrices({ ...SAME, "m-mini": { input: 0.27, output: 2 } });
  const found = await check();
  expect([found.code, found.changes]).toEqual([1, []]);
  expect(found.models[0].blocks).toEqual([
    "oa/m-mini: the lists disagree: litellm says $0.26 input, $2 output; " +
      "model-prices says $0.27 input, $2 output",
  ]);
  const refused = await importing("--yes", "mini");
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("the lists disagree")]);
  expect(text()).toBe(CONFIGURATION);
  const chosen = ["prices", "import", "c.json", "--file", "m.json", "--lists", "model-prices"];
  const asked = await cli(...chosen, "--models", "mini");
  expect([asked.code, asked.err]).toEqual([2, expect.stringContaining("only model-prices names")]);
  expect((await cli(...chosen, "--yes", "mini")).code).toBe(0);
  expect(text()).toContain('"input_usd_per_m": "0.27"');
});

test("two lists outweigh a third one, which is named", async () => {
  both({ ...SAME, "gpt-5-mini": { input: 0.28, output: 2 } });
  writeFileSync(join(folder, "c.json"), CONFIGURATION.replaceAll("m-mini", "gpt-5-mini"));
  const args = ["--file", "l.json,m.json", "--lists", "litellm,model-prices,tokenlens", "--json"];
  const found = resultOf(await cli("prices", "check", "c.json", ...args));
  expect(found.models[0]).toMatchObject({ changes: true, asks: [], blocks: [] });
  expect(found.models[0].notes[0]).toStartWith("oa/gpt-5-mini: tokenlens says $0.25 input");
});

test("a rise above 20 % or from nothing, and a fall by half, need a yes by name", async () => {
  const cases: readonly (readonly [input: number, words: string])[] = [
    [0.300001, "input $0.25 -> $0.300001 rises by more than 20 %"],
    [0.12, "input $0.25 -> $0.12 falls by more than half"],
    // A price of one token, written as the price of a million.
    [0.00000025, "falls by more than half"],
  ];
  for (const [input, words] of cases) {
    both({ ...SAME, "m-mini": { input, output: 2 } });
    for (const accepted of ["mini", "all", "mini,all"]) {
      const { code, err, out } = await importing("--models", accepted);
      if (accepted === "all") expect(out).toContain("no price changes");
      else expect([code, err]).toEqual([2, expect.stringContaining(words)]);
      expect(text()).toBe(CONFIGURATION);
    }
    expect((await importing("--yes", "mini")).code).toBe(0);
    writeFileSync(join(folder, "c.json"), CONFIGURATION);
  }
  both({ ...SAME, "m-mini": { input: 0.3, output: 2 } });
  expect((await importing("--models", "mini")).code).toBe(0);
  const free = CONFIGURATION.replace('"input_usd_per_m": 0.25', '"input_usd_per_m": 0');
  writeFileSync(join(folder, "c.json"), free);
  both(SAME);
  const { code, err } = await importing("--models", "mini");
  expect([code, err]).toEqual([2, expect.stringContaining("$0 -> $0.25 rises from nothing")]);
  expect(text()).toBe(free);
});

test("a price that only one list names needs a yes, beside prices that both name", async () => {
  liteLlm({ ...SAME, "m-mini": { input: 0.25, output: 2, cache_read: 0.2 } });
  modelPrices(SAME);
  const { code, err } = await importing("--models", "mini");
  expect([code, err]).toEqual([2, expect.stringContaining("only litellm names cached input")]);
});

test("the kind of billing never changes, not even with a yes", async () => {
  liteLlm({ ...SAME, "m-mini": { input: 0, output: 0, input_cost_per_request: 0.01 } });
  modelPrices({ haiku: SAME.haiku });
  const { code, err } = await importing("--yes", "mini");
  const words = "it is billed by tokens, and in the list by requests";
  expect([code, err]).toEqual([2, expect.stringContaining(words)]);
  liteLlm({ ...SAME, "m-mini": { input: 0.25, output: 2, input_cost_per_request: 0.01 } });
  expect((await importing("--yes", "mini")).code).toBe(2);
  expect(text()).toBe(CONFIGURATION);
});

test("nothing is deleted: models, rows and prices that no list has stay", async () => {
  liteLlm({ haiku: { input: 1.1, output: 5 } });
  modelPrices({ haiku: { input: 1.1, output: 5 } });
  expect((await importing("--models", "all")).code).toBe(0);
  const { models } = written();
  expect(models.map(({ id }: { id: string }) => id)).toEqual(["mini", "haiku", "local"]);
  const { buying_prices: buying } = models[1].routes[0];
  expect(buying).toEqual([
    { input_usd_per_m: "1.1", output_usd_per_m: "5" },
    { when: { tier: "batch" }, input_usd_per_m: "0.5", output_usd_per_m: "2.5" },
  ]);
  expect(models[0].routes[0].buying[0].input_usd_per_m).toBe(0.25);
});

test("selling prices follow the markup that is written, and no model without one", async () => {
  both({ "m-mini": { input: 0.28, output: 2 }, haiku: { input: 1.1, output: 5.333333 } });
  expect((await importing("--models", "all")).code).toBe(0);
  const { models } = written();
  expect(models[0].pricing).toEqual([{ input_usd_per_m: 0.3, output_usd_per_m: "2.5" }]);
  // 5.333333 * 1.25 is 6.66666625, rounded up; the tier that is not sold is not added.
  expect(models[1].prices).toEqual([{ input_usd_per_m: "1.375", output_usd_per_m: "6.666667" }]);
});

test("a model's own markup goes before the provider's, and its rise is asked", async () => {
  const own = CONFIGURATION.replace('"id": "haiku",', '"id": "haiku", "markup_percent": 60.5,');
  writeFileSync(join(folder, "c.json"), own);
  both(SAME);
  const { code, err } = await importing("--models", "haiku");
  const words = "selling price: input $1.25 -> $1.605 rises by more than 20 %";
  expect([code, err]).toEqual([2, expect.stringContaining(words)]);
  expect((await importing("--yes", "haiku")).out).toContain("$1.605 in, $8.025 out");
});

test("of several routes the one that costs most makes the selling price", async () => {
  const routes = `"routes": [{ "provider": "cl", "model": "other",
    "buying": [{ "input_usd_per_m": "1.1", "output_usd_per_m": "4" }] },`;
  const two = CONFIGURATION.replace('"routes": [\n        {\n          "provider": "cl"', () => {
    return `${routes} {\n          "provider": "cl"`;
  }).replace(/,\n\s+\{ "when": \{ "tier".*\}/, "");
  writeFileSync(join(folder, "c.json"), two);
  both(SAME);
  const found = await check();
  expect(found.changes).toEqual(["model haiku: $1.25 in, $6.25 out -> $1.375 in, $6.25 out"]);
});

test("a model of the lists is added only if it is named, and only with a markup", async () => {
  both({ ...SAME, "m-new": { input: 1, output: 2 } });
  const found = await check();
  expect([found.changes, found.not_configured.oa]).toEqual([[], ["m-new"]]);
  const refused = await importing("--add", "oa/m-new");
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("context length")]);
  liteLlm({ ...SAME, "m-new": { input: 1, output: 2, max_input_tokens: 9_000 } });
  const unsold = await importing("--add", "oa/m-new");
  expect([unsold.code, unsold.err]).toEqual([2, expect.stringContaining("no markup_percent")]);
  writeFileSync(
    join(folder, "c.json"),
    CONFIGURATION.replace('"oa": {', '"oa": { "markup_percent": 100,'),
  );
  const { out } = await importing("--add", "oa/m-new");
  expect(out).toContain("model m-new: added, $2 in, $4 out, by oa/m-new at $1 in, $2 out");
  expect((await importing("--add", "oa/m-new")).err).toContain("has a model 'm-new'");
  expect((await importing("--add", "nowhere/m-new")).err).toContain("no provider 'nowhere'");
});

test("nothing is written if a list cannot be read, or a name is not known", async () => {
  both({ ...SAME, "m-mini": { input: 0.26, output: 2 } });
  writeFileSync(join(folder, "m.json"), "{");
  expect((await importing("--models", "mini")).code).toBe(2);
  both({ ...SAME, "m-mini": { input: 0.26, output: 2 } });
  const wrong: readonly (readonly [args: readonly string[], words: string])[] = [
    [[], "needs --models, --yes or --add"],
    [["--models", "mini,minni"], "no model 'minni'"],
  ];
  for (const [args, words] of wrong) {
    const { code, err } = await importing(...args);
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
  }
  const lists = await cli("prices", "check", "c.json", "--lists", "litellm");
  expect([lists.code, lists.err]).toEqual([2, expect.stringContaining("no --file has it")]);
  const file = await cli("prices", "check", "c.json", "--file", "none.json");
  expect([file.code, file.err]).toEqual([2, expect.stringContaining("none.json cannot be read")]);
  expect(text()).toBe(CONFIGURATION);
});

test("without a file the configuration in force gets a new version", async () => {
  both({ ...SAME, "m-mini": { input: 0.26, output: 2 } });
  const none = await cli("prices", "check", ...LISTS);
  expect([none.code, none.err]).toEqual([
    2,
    expect.stringContaining("No configuration was applied"),
  ]);
  await cli("config", "apply", "c.json");
  const { code, out } = await cli(
    "prices",
    "import",
    ...LISTS,
    "--models",
    "all",
    "--note",
    "Monthly",
  );
  expect([code, out]).toEqual([
    0,
    "model mini: by oa/m-mini at $0.25 in, $2 out -> by oa/m-mini at $0.26 in, $2 out\n" +
      "Version 2 is in force.\n",
  ]);
  const { versions } = jsonOf(await cli("config", "history", "--json"));
  expect(versions[0]).toMatchObject({ version: 2, note: "Monthly" });
  const shown = await cli("config", "show");
  expect(shown.out.trim()).toBe(
    CONFIGURATION.replace('"input_usd_per_m": 0.25', '"input_usd_per_m": "0.26"').trim(),
  );
});
