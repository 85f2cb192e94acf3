// Writes the files that commands of the pages read, in the folder that they run in.

import { Database } from "bun:sqlite";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { ONE_API_SQLITE } from "../unit/imports/one-api-tables.ts";
import { chatBody } from "./api/api-world.ts";

/** The configuration file of the pages. */
export const CONFIGURATION = "farebox.config.json";

interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

const MARKUP_PERCENT = 20;

const perMillion = ({ input, output, cached }: Prices, factor = 1) => [
  {
    input_usd_per_m: (input * factor).toFixed(4),
    output_usd_per_m: (output * factor).toFixed(4),
    cached_input_usd_per_m: (cached * factor).toFixed(4),
  },
];

/** A model that is sold for what it costs and the markup. */
function model(id: string, [provider, name]: readonly [string, string], buying: Prices): object {
  return {
    id,
    label: id,
    family: "f",
    owned_by: "o",
    context_length: 100_000,
    pricing: perMillion(buying, 1 + MARKUP_PERCENT / 100),
    routes: [{ provider, model: name, buying: perMillion(buying) }],
  };
}

/** Writes the configuration; its note makes each version another. */
export function writeConfiguration(note: string): void {
  const sold = { markup_percent: MARKUP_PERCENT };
  const json = JSON.stringify({
    providers: {
      openai: { provider: "openai", api_key_env: "OPENAI_API_KEY", ...sold },
      claude: { provider: "anthropic", api_key_env: "ANTHROPIC_API_KEY", ...sold },
    },
    models: [
      // The lists agree on these two, whose prices are some percent higher there.
      model("mini", ["openai", "gpt-4.1-mini"], { input: 0.39, output: 1.55, cached: 0.095 }),
      model("haiku", ["openai", "o3"], { input: 1.9, output: 7.8, cached: 0.48 }),
      // A rise by more than a fifth needs a yes.
      model("opus", ["claude", "claude-opus-4-1-20250805"], { input: 10, output: 50, cached: 1 }),
    ],
  });
  writeFileSync(CONFIGURATION, `// ${note}\n${json}\n`);
}

/** Writes every file that a command of a page reads. */
export function writeFiles(): void {
  writeConfiguration("The first one");
  for (const folder of ["handbook", "data"]) mkdirSync(folder);
  const texts: Readonly<Record<string, string>> = {
    "call.json": JSON.stringify(chatBody()),
    "search.json": JSON.stringify({ query: "css grid layout" }),
    "articles.jsonl": `${JSON.stringify({ url: "https://a.example/1", title: "A", text: "B" })}\n`,
    "handbook/holds.md": "# Holds\n\nCredit that a call reserves.\n",
    "customers.csv":
      "id,name,email,balance_usd,keys,key_monthly_limit_usd\n" +
      'c-1,"Lovelace, Ada",ada@example.org,25,web;batch,20\n',
    "export.csv": "usage_date_utc,model,cost_usd\n",
    "litellm.json": JSON.stringify({
      "gpt-5-mini": liteLlmPrice("openai", 0.25, 2),
      "gpt-6": liteLlmPrice("openai", 1, 8),
    }),
    "model-prices.json": JSON.stringify({
      schema: 1,
      prices: { openai: { "gpt-5-mini": modelPrice(0.25, 2), "gpt-6": modelPrice(1, 8) } },
    }),
  };
  for (const [name, text] of Object.entries(texts)) writeFileSync(name, text);
  const database = new Database("data/one-api.db", { create: true });
  database.run(ONE_API_SQLITE);
  database.close();
}

function liteLlmPrice(provider: string, input: number, output: number): object {
  return {
    litellm_provider: provider,
    input_cost_per_token: input / 1e6,
    output_cost_per_token: output / 1e6,
  };
}

function modelPrice(input: number, output: number): object {
  return { standard: [{ start: null, rates: { input, output } }] };
}

/** The first code of the batch `summer`. */
export function firstCode(): string {
  const [, line = ""] = readFileSync("summer.csv", "utf8").split("\n");
  return line.split(",")[0] ?? "";
}
