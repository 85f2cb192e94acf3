// Tests providers that the configuration names: every configuration of the page works, and missing
// or wrong credentials are named by line and field.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { PRESET_NAMES } from "../../../src/services/chat/models/provider-presets.ts";
import { CatalogueError, parseCatalogue } from "../../../src/settings/catalogue-file.ts";
import type { Environment } from "../../../src/settings/environment.ts";
import { serviceAccountAt } from "../../support/fakes/wire/wire-forms.ts";

const PAGE = readFileSync("docs/providers.md", "utf8");
const EXAMPLES = [...PAGE.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = ""]) => text);

const account = serviceAccountAt("https://oauth2.googleapis.com/token");
const KEY_FILE = JSON.stringify(
  { client_email: account.clientEmail, private_key: account.privateKey },
  null,
  2,
);

/** Every variable of a text, with a value that is right for it. */
function environmentOf(text: string): Environment {
  const names = [...text.matchAll(/_env": ?"(\w+)"/g)].map(([, name = ""]) => name);
  return Object.fromEntries(
    names.map((name) => [name, name.includes("SERVICE_ACCOUNT") ? KEY_FILE : `key-of-${name}`]),
  );
}

function read(provider: object, env: Environment = environmentOf(JSON.stringify(provider))) {
  const text = JSON.stringify({ providers: { p: provider }, models: [] }, null, 2);
  return parseCatalogue(text, env).providers.get("p");
}

function refusal(provider: object, env?: Environment): string {
  try {
    read(provider, env);
  } catch (error) {
    if (error instanceof CatalogueError) return error.message;
    throw error;
  }
  throw new Error("The provider was not refused");
}

test("every configuration on the page is taken, and every provider is on the page", () => {
  const named = new Set<string | undefined>(["openai-compatible"]);
  for (const text of EXAMPLES) {
    const { providers } = parseCatalogue(text, environmentOf(text));
    expect(providers.size).toBeGreaterThan(1);
    for (const [, name] of text.matchAll(/"provider": "([a-z-]+)"/g)) named.add(name);
  }
  expect([...named].sort()).toEqual([...PRESET_NAMES].sort());
});

const OWN = { base_url: "http://10.0.0.5/v1" };

test("identifiers are those of the preset, other ones, or none, as the entry says", () => {
  const openai = { provider: "openai", api_key_env: "A_KEY" };
  const fields = ["safety_identifier", "prompt_cache_key"];
  expect(read(openai)?.identifiers).toMatchObject({ preset: "openai", fields });
  expect(read({ ...openai, identifiers: [] })?.identifiers).toBeUndefined();
  expect(read(OWN)?.identifiers).toBeUndefined();
  const own = read({ ...OWN, identifiers: ["user"] });
  expect(own?.identifiers).toEqual({ preset: "openai-compatible", fields: ["user"] });
});

test("a preset fills address and habits, and the entry may override them", () => {
  const groq = { provider: "groq", api_key_env: "A_KEY" };
  expect(read(groq)).toMatchObject({
    kind: "openai",
    baseUrl: "https://api.groq.com/openai/v1",
    maxTokensField: "max_completion_tokens",
    apiKey: "key-of-A_KEY",
  });
  const own = { ...groq, base_url: "http://10.0.0.5/v1", max_tokens_field: "max_tokens" };
  expect(read(own)).toMatchObject({ baseUrl: "http://10.0.0.5/v1", maxTokensField: "max_tokens" });
});

test.each([
  ["global", "https://aiplatform.googleapis.com"],
  ["eu", "https://aiplatform.eu.rep.googleapis.com"],
  ["us-east5", "https://us-east5-aiplatform.googleapis.com"],
])("vertex in %s is at its host", (region, host) => {
  const vertex = {
    provider: "google-vertex",
    project: "p1",
    region,
    service_account_env: "SERVICE_ACCOUNT",
  };
  expect(read(vertex)?.baseUrl).toBe(`${host}/v1/projects/p1/locations/${region}`);
});

test.each([
  [{ provider: "anthropic" }, "line 3: providers.p.api_key_env is missing: anthropic needs a key"],
  [{ provider: "azure", api_key_env: "A_KEY" }, "line 3: providers.p.base_url is missing"],
  [{ provider: "amazon-bedrock", api_key_env: "A_KEY" }, "providers.p.region is missing"],
  [{ provider: "amazon-bedrock", region: "us-east-1" }, "providers.p.api_key_env is missing"],
  [{ provider: "google-vertex", region: "us" }, "providers.p.project is missing"],
  [{ provider: "google-vertex", region: "us", project: "p" }, "p.service_account_env is missing"],
  [{ ...OWN, identifiers: ["name"] }, "p.identifiers[0] must be one of safety_identifier, user"],
  [
    { provider: "anthropic", api_key_env: "A_KEY", identifiers: ["user"] },
    "line 7: providers.p.identifiers[0] 'user' is no field of anthropic",
  ],
  [{ provider: "acme" }, "line 4: providers.p.provider must be one of openai-compatible"],
])("%j is refused by line and field", (provider, words) => {
  expect(refusal(provider)).toContain(words);
});

test("a key file that is none is refused without a word of it", () => {
  const vertex = {
    provider: "google-vertex",
    project: "p",
    region: "us",
    service_account_env: "SA",
  };
  const message = refusal(vertex, { SA: '{"client_email":"a","private_key":"secret"}' });
  expect(message).toContain("service_account_env must name the key file of a service account");
  expect(message).not.toContain("secret");
});
