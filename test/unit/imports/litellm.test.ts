// Tests an import of LiteLLM's proxy: the unspent part of budgets becomes balances, and budgets
// that renew, are unlimited or cannot be stored here are named.

import { expect, test } from "bun:test";
import { createCipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { parseCatalogue } from "../../../src/settings/catalogue-file.ts";
import { jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { openImportLab } from "./import-lab.ts";
import { openLiteLlm } from "./litellm-tables.ts";

const SALT = "sk-salt of a test";

const lab = await shared(openImportLab());
const url = await lab.emptyDatabase();
const litellm = await shared(openLiteLlm(url));
const saltFile = lab.path("salt");
writeFileSync(saltFile, `${SALT}\n`);
await fillPeople();
await fillModels();
const first = jsonOf(await run("--salt-key-file", saltFile));

function run(...more: readonly string[]) {
  return lab.cli("import", "litellm", "--from", url, "--out", lab.folder, "--json", ...more);
}

test("the rest of a budget without a period is the balance, without free credit", async () => {
  const accounts = await lab.accounts();
  expect(accounts["Ünïcode ☂ GmbH"]).toMatchObject({ paid: "87.700000001", free: "0" });
  expect(accounts.ada).toMatchObject({ paid: "0.3", email: "Ada@example.com" });
  // A key without an owner pays for itself.
  expect(accounts.service).toMatchObject({ paid: "9", email: null });
  expect(accounts.service?.keys).toEqual([{ name: "service", limit: null, ips: [] }]);
  expect(first).toMatchObject({ accounts_created: 9, credited_usd: 97.000000001 });
});

test("unlimited, renewing, overspent, impossible and blocked budgets are named", async () => {
  const accounts = await lab.accounts();
  for (const name of ["unlimited", "renewing", "overspent", "enormous"]) {
    expect([name, accounts[name]?.paid]).toEqual([name, "0"]);
  }
  expect(accounts["blocked team"]).toMatchObject({ paid: "0", state: "suspended" });
  expect(first.notes).toEqual(
    expect.arrayContaining([
      "user unlimited 'unlimited': it has no budget, so no limit; here the balance is $0.00",
      "user renewing 'renewing': its budget of $50.00 renews in every 30d, which is a limit " +
        "here, and no credit; here the balance is $0.00",
      "user overspent 'overspent': it spent $1.50 more than its budget; here the balance is $0.00",
      "user enormous 'enormous': a budget of 1e+300 and a spending of 0 do not fit; here the " +
        "balance is $0.00",
      "user nobody 'nobody': no key and no budget of its own; left out",
      "team t2 'blocked team': blocked there; suspended here",
      "team t1 'Ünïcode ☂ GmbH': its 2 members are not carried over: invite them",
      "team t1 'Ünïcode ☂ GmbH': its keys may call only gpt-test; a key made later may call " +
        "every one",
      "team t1 'Ünïcode ☂ GmbH': not carried over: rpm_limit 100; organization_id org1",
      "organization org1 'Org': not carried over, nor is its budget",
      "end user eu1: its budget of $20.00 is not carried over: name the account that its calls " +
        "will come from with --end-users",
      "team t1: the budget of $20.00 in every 30d of its member nobody is not carried over",
      "ada@example.com: user:ada, user:overspent share it, and stay apart accounts",
      "user enormous 'enormous': the e-mail address 'no address' has no '@': the account has none",
    ]),
  );
});

test("budgets of teams and users by a period are limits of the account", async () => {
  const accounts = await lab.accounts();
  expect(accounts.renewing).toMatchObject({ cap: "50", budgets: null });
  expect(accounts["several periods"]).toMatchObject({
    paid: "0",
    cap: "90",
    budgets: { day: "4", week: "10" },
  });
  expect(accounts.ada).toMatchObject({ cap: null, budgets: null });
  expect(first.notes).toEqual(
    expect.arrayContaining([
      "team t3 'several periods': its empty budget in every 5h is left out",
      "team t3 'several periods': its budget of $10.00 renews in every 7d, which is a limit " +
        "here, and no credit; here the balance is $0.00",
    ]),
  );
  expect(first.notes.join("\n")).not.toContain("t3 'several periods': not carried over");
});

test("keys go to their team, or their user, with limits and tags; dead keys to none", async () => {
  const accounts = await lab.accounts();
  const ofTeam = { limit: null, ips: [], models: ["gpt-test"] };
  expect(accounts["Ünïcode ☂ GmbH"]?.keys).toEqual([
    { ...ofTeam, name: "monthly", limit: "20", rpm: 50, tpm: 9000, tags: ["web", "shop"] },
    { ...ofTeam, name: "weekly", budgets: { week: "5" }, tags: ["shop"] },
    { ...ofTeam, name: "total", budgets: { total: "3" }, tags: ["shop"] },
  ]);
  expect(accounts.unlimited?.keys).toEqual([
    {
      name: "=formula()",
      limit: null,
      ips: [],
      ends: "2099-01-01",
      models: ["gpt-*", "o9"],
      rpm: 7,
    },
  ]);
  expect(lab.keyLines().map((line) => line.slice(3))).toEqual([
    ["Ünïcode ☂ GmbH", "", "monthly", "aaaa"],
    ["Ünïcode ☂ GmbH", "", "weekly", "bbbb"],
    ["Ünïcode ☂ GmbH", "", "total", "cccc"],
    ["unlimited", "", "'=formula()", "dddd"],
    ["service", "", "service", "eeee"],
  ]);
  expect(first.notes).toEqual(
    expect.arrayContaining([
      "key 'blocked' (…): blocked there; no new key",
      "key 'expired' (…): expired there; no new key",
      "key 'used up' (…): its budget is used up; no new key",
      "key '=formula()' (…dddd): its models o9 are allowed, but none of that name is imported",
      "key '=formula()' (…dddd): not carried over: max_parallel_requests 3",
      "key 'monthly' (…aaaa): not carried over: tags that no key can have here: 'a,b'",
    ]),
  );
  // A session of its dashboard is not anyone's key.
  expect(first.notes.join("\n")).not.toContain("dashboard");
});

test("sealed models are opened with the salt key, in all three forms of LiteLLM", () => {
  const { providers, models } = lab.models();
  expect(providers).toEqual({
    openai: { base_url: "https://api.openai.com/v1", api_key_env: "OPENAI_API_KEY" },
    hosted_vllm: { base_url: "http://10.0.0.9:8000/v1" },
    groq: { base_url: "https://api.groq.com/openai/v1", api_key_env: "GROQ_API_KEY" },
  });
  expect(models.map(({ id }: { id: string }) => id)).toEqual(["gpt-test", "llama"]);
  expect(models[0]).toMatchObject({
    context_length: 200_000,
    pricing: [
      { input_usd_per_m: "0.15", output_usd_per_m: "0.6", cached_input_usd_per_m: "0.0375" },
    ],
    routes: [
      { provider: "openai", model: "gpt-test-2026" },
      { provider: "hosted_vllm", model: "meta/gpt-test" },
    ],
  });
  expect(models[1].context_length).toBe(128_000);
  const env = { OPENAI_API_KEY: "k", GROQ_API_KEY: "k" };
  expect(() => parseCatalogue(JSON.stringify(lab.models()), env)).not.toThrow();
  expect(first.notes).toEqual(
    expect.arrayContaining([
      "model 'claude': its provider 'anthropic' does not speak OpenAI's protocol; left out",
      "model 'wild/*': 'openai/*' is no name of one model; left out",
      "model 'free-of-price': its price is not in the database; left out",
      "model 'off': blocked there; left out",
      "model 'foreign': the salt key does not open it; left out",
      "model 'llama': its context length is not known; 128000 is assumed",
      "model 'gpt-test': its places have different prices; it has those of openai, not those of " +
        "hosted_vllm",
    ]),
  );
});

test("without the salt key sealed models are named, and nothing is guessed", async () => {
  const { notes, models } = jsonOf(await run("--dry-run"));
  expect(models).toBe(0);
  expect(notes).toContain(
    "model 'gpt-test': it is sealed: give the salt key with --salt-key-file; left out",
  );
});

test("an interrupted import goes on, and a repeated one changes nothing", async () => {
  const before = [await lab.accounts(), lab.keyLines()];
  expect(jsonOf(await run("--salt-key-file", saltFile))).toMatchObject({
    accounts_created: 0,
    keys_issued: 0,
    keys_known: 5,
    credited_usd: 0,
  });
  expect([await lab.accounts(), lab.keyLines()]).toEqual(before);

  // As if the first run had died: an account whose credit is uncertain, a key that was written to
  // the file and never committed.
  const { sql } = lab.world.database;
  await sql`UPDATE imported SET complete = false WHERE origin = 'team:t1'`;
  const file = `${lab.folder}/keys.csv`;
  const text = await Bun.file(file).text();
  await Bun.write(file, `${text}"key_neverCommitted000","svc_live_x","acct_x","","","x",""\r\n`);
  await litellm.add("VerificationToken", {
    token: "hash-late",
    key_name: "sk-...late",
    key_alias: "late",
    user_id: "ada",
  });
  await Bun.write(`${lab.folder}/notes.txt`, "");
  await sql`ALTER TABLE imported ADD CONSTRAINT none_more CHECK (false) NOT VALID`;
  expect((await run("--salt-key-file", saltFile)).code).not.toBe(0);
  await sql`ALTER TABLE imported DROP CONSTRAINT none_more`;
  expect(await Bun.file(`${lab.folder}/notes.txt`).text()).toContain("left out");
  expect(jsonOf(await run("--salt-key-file", saltFile))).toMatchObject({
    accounts_created: 0,
    keys_issued: 1,
    keys_known: 5,
  });
  const after = await lab.accounts();
  expect(after["Ünïcode ☂ GmbH"]?.paid).toBe("87.700000001");
  expect(lab.keyLines().map((line) => line[5])).toEqual([
    "monthly",
    "weekly",
    "total",
    "'=formula()",
    "service",
    "late",
  ]);
  expect(await Bun.file(file).text()).not.toContain("neverCommitted");
  await lab.expectClean();
});

test("a file that is not a key file is not overwritten", async () => {
  const file = `${lab.folder}/keys.csv`;
  const text = await Bun.file(file).text();
  await Bun.write(file, "my own notes\n");
  const { code, err } = await run();
  expect([code, err]).toEqual([1, expect.stringContaining("is not the key file of an import")]);
  expect(await Bun.file(file).text()).toBe("my own notes\n");
  await Bun.write(file, text);
});

async function fillPeople(): Promise<void> {
  await litellm.add("BudgetTable", {
    budget_id: "b1",
    max_budget: 20,
    budget_duration: "30d",
    rpm_limit: 50,
    tpm_limit: 9_000,
  });
  await litellm.add("OrganizationTable", {
    organization_id: "org1",
    organization_alias: "Org",
    budget_id: "b1",
  });
  await litellm.add(
    "TeamTable",
    {
      team_id: "t1",
      team_alias: "Ünïcode ☂ GmbH",
      max_budget: 100,
      spend: 12.299999999,
      models: ["gpt-test"],
      rpm_limit: 100,
      organization_id: "org1",
      metadata: { tags: ["shop"] },
    },
    { team_id: "t2", team_alias: "blocked team", max_budget: 5, spend: 5, blocked: true },
    {
      team_id: "t3",
      team_alias: "several periods",
      max_budget: 10,
      budget_duration: "7d",
      budget_limits: JSON.stringify([
        { budget_duration: "1d", max_budget: 4 },
        { budget_duration: "30d", max_budget: 90 },
        { budget_duration: "5h", max_budget: 0 },
      ]),
    },
  );
  const user = (user_id: string, more: object = {}) =>
    litellm.add("UserTable", { user_id, user_alias: user_id, ...more });
  // 0.3 - 0 and 100 - 12.299999999 are no exact floats.
  await user("ada", { user_email: "Ada@example.com", max_budget: 0.3 });
  await user("unlimited");
  await user("renewing", { max_budget: 50, budget_duration: "30d" });
  await user("overspent", { max_budget: 10, spend: 11.5, user_email: "ada@example.com" });
  await user("enormous", { max_budget: 1e300, user_email: "no address" });
  await user("nobody", { user_role: "internal_user_viewer" });
  await litellm.add("TeamMembership", { user_id: "ada", team_id: "t1" });
  await litellm.add("TeamMembership", { user_id: "nobody", team_id: "t1", budget_id: "b1" });
  await litellm.add("EndUserTable", { user_id: "eu1", budget_id: "b1" });
  let count = 0;
  const key = (key_alias: string, more: object) => {
    count += 1;
    const created_at = new Date(Date.UTC(2026, 0, 1, 0, count));
    return litellm.add("VerificationToken", {
      token: `hash-${count}`,
      key_alias,
      created_at,
      ...more,
    });
  };
  await key("monthly", {
    key_name: "sk-...aaaa",
    team_id: "t1",
    user_id: "ada",
    budget_id: "b1",
    metadata: { tags: ["web", "a,b", "shop"], owner: "ada" },
  });
  await key("weekly", {
    key_name: "sk-...bbbb",
    team_id: "t1",
    max_budget: 5,
    budget_duration: "7d",
  });
  await key("total", { key_name: "sk-...cccc", team_id: "t1", max_budget: 4, spend: 1 });
  await key("=formula()", {
    key_name: "sk-...dddd",
    user_id: "unlimited",
    expires: new Date("2099-01-01T00:00:00Z"),
    models: ["gpt-*", "o9"],
    rpm_limit: 7,
    max_parallel_requests: 3,
  });
  await key("service", { key_name: "sk-...eeee", max_budget: 10, spend: 1, models: [] });
  await litellm.run(
    `UPDATE "LiteLLM_VerificationToken" SET expires = '290000-01-01' WHERE key_alias = 'service'`,
  );
  await key("blocked", { user_id: "ada", blocked: true });
  await key("expired", { user_id: "ada", expires: new Date("2020-01-01T00:00:00Z") });
  await key("used up", { user_id: "ada", max_budget: 1, spend: 1 });
  await key("dashboard", { team_id: "litellm-dashboard", user_id: "ada" });
}

async function fillModels(): Promise<void> {
  let count = 0;
  const model = (model_name: string, litellm_params: object, more: object = {}) => {
    count += 1;
    const created_at = new Date(Date.UTC(2026, 0, 1, 0, count));
    const row = { model_id: `m${count}`, model_name, litellm_params, created_at, ...more };
    return litellm.add("ProxyModelTable", row);
  };
  const prices = { input_cost_per_token: 1.5e-7, output_cost_per_token: 6e-7 };
  await model(
    "gpt-test",
    {
      model: sealed("openai/gpt-test-2026"),
      api_key: sealed("os.environ/OPENAI_API_KEY"),
      ...prices,
      cache_read_input_token_cost: 3.75e-8,
    },
    { model_info: { max_input_tokens: 200_000 } },
  );
  await model("gpt-test", {
    model: sealed("hosted_vllm/meta/gpt-test", "v2"),
    ...prices,
    api_base: sealed("http://10.0.0.9:8000/v1/", "v2"),
  });
  await model("llama", { model: sealed("groq/llama", "salsa"), api_key: sealed("gsk"), ...prices });
  await model("claude", { model: sealed("anthropic/claude"), ...prices });
  await model("wild/*", { model: sealed("openai/*"), ...prices });
  await model("free-of-price", { model: sealed("openai/x") });
  await model("off", { model: sealed("openai/x"), ...prices }, { blocked: true });
  await model("foreign", { model: sealed("openai/x", "v3", "another key"), ...prices });
}

/** A text as LiteLLM seals it in each of its three forms. */
function sealed(text: string, way: "v3" | "v2" | "salsa" = "v3", key = SALT): string {
  const plain = createHash("sha256").update(key).digest();
  if (way === "salsa") {
    const nonce = randomBytes(24);
    const bytes = xsalsa20poly1305(plain, nonce).encrypt(Buffer.from(text));
    return base64(Buffer.concat([nonce, bytes]));
  }
  const nonce = randomBytes(12);
  const derived = Buffer.from(hkdfSync("sha256", key, "", "litellm-at-rest-v3", 32));
  const cipher = createCipheriv("aes-256-gcm", way === "v3" ? derived : plain, nonce);
  const bytes = Buffer.concat([nonce, cipher.update(text), cipher.final()]);
  return `${way}:gcm:${base64(Buffer.concat([bytes, cipher.getAuthTag()]))}`;
}

/** Base64 for URLs with its padding, as Python writes it. */
function base64(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("+", "-").replaceAll("/", "_");
}
