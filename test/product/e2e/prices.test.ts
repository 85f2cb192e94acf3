// Tests prices with real processes: an imported list of prices decides the charge of the next call,
// and the cost of calls by the log is compared with exports in the forms of their providers.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { startWireServer } from "../../support/fakes/wire/wire-server.ts";
import { type Api, startProduct } from "../../support/product/product.ts";
import { type Cli, cliProcess, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";

const WITHIN_MS = 30_000;
const TOKENS = 1_000;

const wire = await shared(startWireServer());
const product = await shared(startProduct({ apis: 2, workers: 1, env: { KEY: "sk-x" } }));
const { key } = await product.account({ paid: "100", contract: "enterprise" });
const { home } = product.parts;

const cli: Cli = (...args) => cliProcess(args, { cwd: home, env: { ...product.env, KEY: "sk-x" } });

const PROVIDERS = {
  openai: ["gpt-x-mini", { markup_percent: 50 }],
  anthropic: ["claude-x", {}],
  openrouter: ["maker/model-x", {}],
} as const;

const bandAt = (usd: string) => ({ input_usd_per_m: usd, output_usd_per_m: usd });

/** Anthropic rounds each line of its export to cents, so its model costs dollars. */
const usdOf = (name: string, usd: string) => (name === "anthropic" ? String(1_000 * +usd) : usd);

/** A configuration in which a million tokens cost a dollar to buy, and 1.5 to sell. */
const CONFIGURATION = JSON.stringify(
  {
    providers: Object.fromEntries(
      Object.entries(PROVIDERS).map(([name, [, more]]) => [
        name,
        { provider: name, base_url: `${wire.url}/v1`, api_key_env: "KEY", ...more },
      ]),
    ),
    models: Object.entries(PROVIDERS).map(([name, [model]]) => ({
      id: name,
      label: name,
      family: "f",
      owned_by: "o",
      context_length: 100_000,
      pricing: [bandAt(usdOf(name, "1.5"))],
      routes: [{ provider: name, model, buying: [bandAt(usdOf(name, "1"))] }],
    })),
    search: { providers: [{ kind: "searxng", base_url: "http://127.0.0.1:9" }] },
  },
  null,
  2,
);

/** A reply of 1,000 tokens of input and as many of output, in the form of the provider. */
function replyOf(provider: keyof typeof PROVIDERS): object {
  const [model] = PROVIDERS[provider];
  if (provider === "anthropic") {
    return {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model,
      content: [{ type: "text", text: "Hello" }],
      stop_reason: "end_turn",
      usage: { input_tokens: TOKENS, output_tokens: TOKENS },
    };
  }
  return {
    id: "up-1",
    object: "chat.completion",
    created: 1,
    model,
    choices: [
      { index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" },
    ],
    usage: {
      prompt_tokens: TOKENS,
      completion_tokens: TOKENS,
      total_tokens: 2 * TOKENS,
      // The provider's own price of the call.
      ...(provider === "openrouter" && { cost: 0.00123 }),
    },
  };
}

/** The charge of one call. */
async function charged(provider: keyof typeof PROVIDERS, api = 0): Promise<string | null> {
  wire.queue({ body: [JSON.stringify(replyOf(provider))] });
  const response = await fetch(`${product.api(api).url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: provider,
      messages: [{ role: "user", content: "word ".repeat(TOKENS) }],
      max_tokens: TOKENS,
    }),
  });
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get("x-svc-cost-usd");
}

async function versionOf({ url }: Api): Promise<number> {
  const response = await fetch(`${url}/readyz`);
  const { versions } = (await response.json()) as { readonly versions: Versions };
  return versions.configuration;
}

interface Versions {
  readonly configuration: number;
}

async function allRun(version: number): Promise<void> {
  await eventually(
    `all run version ${version}`,
    async () => {
      const found = await Promise.all(product.apis.map(versionOf));
      return found.every((one) => one === version);
    },
    WITHIN_MS,
  );
}

test("a price from a file decides the charge of the next call, by the markup", async () => {
  writeFileSync(join(home, "c.json"), CONFIGURATION);
  expect((await cli("config", "apply", "c.json")).code).toBe(0);
  await allRun(1);
  expect(await charged("openai")).toBe("0.003");
  const list = {
    "gpt-x-mini": {
      litellm_provider: "openai",
      input_cost_per_token: 1.2000000000000002e-6,
      output_cost_per_token: 1.1e-6,
    },
  };
  writeFileSync(join(home, "list.json"), JSON.stringify(list));
  const args = ["prices", "import", "--file", "list.json", "--lists", "litellm", "--yes", "openai"];
  const { changes, result } = jsonOf(await cli(...args, "--json"));
  expect(changes).toEqual([
    "model openai: $1.5 in, $1.5 out -> $1.8 in, $1.65 out",
    "model openai: by openai/gpt-x-mini at $1 in, $1 out -> " +
      "by openai/gpt-x-mini at $1.2 in, $1.1 out",
  ]);
  expect(result).toBe("Version 2 is in force.");
  await allRun(2);
  expect([await charged("openai"), await charged("openai", 1)]).toEqual(["0.00345", "0.00345"]);
  expect(await charged("anthropic")).toBe("3");
  expect(await charged("openrouter", 1)).toBe("0.003");
});

test("exports in three forms agree with the log, and a drift of 3 % is named", async () => {
  const today = new Date().toISOString().slice(0, 10);
  const start = Date.parse(today) / 1_000;
  // One call at the old price and two at the new one; OpenRouter's own word.
  const exports = {
    openai: (cost: number) => [
      "start_time,amount_value,amount_currency,line_item",
      `${start},${cost},usd,"gpt-x-mini-2026-01-01, input"`,
    ],
    anthropic: (cost: number) => ["usage_date_utc,model,cost_usd", `${today},Claude X,${cost}`],
    openrouter: (cost: number) => [
      "created_at,model_permaslug,cost_total",
      `${today} 10:00:00,maker/model-x,${cost}`,
    ],
  };
  const costs = { openai: 0.0066, anthropic: 2, openrouter: 0.00123 };
  for (const [name, linesOf] of Object.entries(exports)) {
    const cost = costs[name as keyof typeof costs];
    const reconciled = async (amount: number) => {
      writeFileSync(join(home, "export.csv"), linesOf(amount).join("\n"));
      const month = today.slice(0, 7);
      return await cli("reconcile", name, "--month", month, "--file", "export.csv");
    };
    const same = await reconciled(cost);
    expect([same.code, same.out]).toEqual([
      0,
      expect.stringContaining(`${name} and the log agree`),
    ]);
    const drift = await reconciled(Number((cost * 1.03).toFixed(9)));
    expect([name, drift.code]).toEqual([name, 1]);
    expect(drift.err).toContain(today);
    expect(drift.err).toContain("-2.91%");
  }
});
