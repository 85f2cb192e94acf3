// Tests odd rows of other products: an import takes the stricter side, and writes a configuration
// file that Farebox can read.

import { expect, test } from "bun:test";
import { planLiteLlm } from "../../../src/annexes/imports/litellm-plan.ts";
import { planOneApi } from "../../../src/annexes/imports/one-api-plan.ts";
import { toDollars, usd } from "../../../src/core/money/money.ts";
import { parseCatalogue } from "../../../src/settings/catalogue-file.ts";
import type { ForeignRow } from "../../../src/store/imports/foreign-database.ts";

const TERMS = { nowMs: Date.parse("2026-11-23"), contextLength: 8_192 };
const RATIOS = [
  ["ModelRatio", '{"m1": 1, "m2": 1}'],
  ["CompletionRatio", '{"m1": 1, "m2": 1}'],
] as const;

test("a key without a remaining balance gets no new key, however far below zero it is", () => {
  const { accounts, notes } = oneApi({
    tokens: ["-9223372036854775808", -1, 0].map((remain_quota, at) => ({
      id: at + 1,
      user_id: 1,
      key: "k",
      status: 1,
      remain_quota,
    })),
  });
  expect(accounts[0]?.keys).toEqual([]);
  expect(notes).toHaveLength(3);

  const plan = liteLlm({
    keys: [-1, 0].flatMap((max_budget) =>
      [null, "30d"].map((budget_duration) => ({
        token: `${max_budget} ${budget_duration}`,
        user_id: "ada",
        max_budget,
        budget_duration,
        spend: 0,
      })),
    ),
  });
  expect(plan.accounts.flatMap(({ keys }) => keys)).toEqual([]);
});

test("a key whose end is no date does not end, and one that never began has ended", () => {
  const ends = [Date.UTC(2099, 0), Date.UTC(9999, 11, 31), Date.UTC(10_000, 0), Number.NaN];
  const { accounts } = liteLlm({
    keys: [...ends.map((ms) => new Date(ms)), Infinity, -Infinity].map((expires, at) => ({
      token: at,
      user_id: "ada",
      key_alias: `${at}`,
      expires,
    })),
  });
  expect(accounts[0]?.keys.map(({ name }) => name)).toEqual(["0", "1", "2", "3", "4"]);
  const known = ends.slice(0, 2).map((ms) => new Date(ms));
  expect(accounts[0]?.keys.map(({ endsAt }) => endsAt)).toEqual([...known, null, null, null]);
});

test("a budget keeps its span, and one of another period is the limit each month", () => {
  const windows = [
    { budget_duration: "1d", max_budget: 20, reset_at: null },
    { budget_duration: "1h", max_budget: 2.5 },
  ];
  const spans = ["5h", "24h", "1w", "31d"].map((budget_duration, at) => ({
    budget_duration,
    max_budget: at + 5,
  }));
  const plan = liteLlm({
    keys: [
      { key_alias: "windows", budget_limits: windows },
      { key_alias: "as text", budget_limits: JSON.stringify(windows) },
      { key_alias: "own", max_budget: 1, budget_duration: "30d", budget_limits: windows },
      { key_alias: "total", max_budget: 9, spend: 4, budget_limits: windows },
      { key_alias: "spans", max_budget: 8, budget_duration: "1d", budget_limits: spans },
      { key_alias: "closed", budget_limits: [{ budget_duration: "1d", max_budget: 0 }] },
      { key_alias: "odd", budget_limits: ["x", { budget_duration: 5 }, null] },
    ].map((key) => ({ token: key.key_alias, user_id: "ada", ...key })),
  });
  const limits = plan.accounts.flatMap(({ keys }) =>
    keys.map(({ name, monthlyLimit, budgets }) => [
      name,
      [monthlyLimit, ...budgets.map(({ span, amount }) => `${span} ${toDollars(amount)}`)],
    ]),
  );
  expect(Object.fromEntries(limits)).toEqual({
    windows: [usd("2.5"), "day $20.00"],
    "as text": [usd("2.5"), "day $20.00"],
    own: [usd("1"), "day $20.00"],
    total: [usd("2.5"), "total $5.00", "day $20.00"],
    spans: [usd("8"), "day $6.00", "5h $5.00", "week $7.00"],
    odd: [null],
  });
  expect(plan.notes).toEqual(
    expect.arrayContaining([
      "key 'windows' (…): its limit was $2.50 in every 1h; here it is at most as much each month",
      "key 'closed' (…): its budget in every 1d is used up; no new key",
      "key 'odd' (…): not carried over: budgets for several periods",
    ]),
  );
});

test("a key has at most eight tags, each once, and the notes name the others", () => {
  const many = Array.from({ length: 7 }, (_, at) => `tag-${at}`);
  const odd = ["", "a\u0000b", "x".repeat(33), 5, null, " web ", "web"];
  const plan = liteLlm({
    teams: [{ team_id: "t", metadata: JSON.stringify({ tags: ["team", "late"] }) }],
    keys: [
      { token: "many", team_id: "t", metadata: { tags: many } },
      { token: "odd", team_id: "t", metadata: { tags: odd } },
      { token: "text", user_id: "ada", metadata: "no JSON" },
      { token: "list", user_id: "ada", metadata: { tags: "web" } },
    ].map((key) => ({ ...key, key_alias: key.token })),
  });
  const tags = plan.accounts.flatMap(({ keys }) => keys.map((key) => [key.name, key.tags]));
  expect(Object.fromEntries(tags)).toEqual({
    many: [...many, "team"],
    odd: ["web", "team", "late"],
    text: [],
    list: [],
  });
  expect(plan.notes).toEqual(
    expect.arrayContaining([
      "key 'many' (…): a key may have 8 tags; not carried over: late",
      "key 'odd' (…): not carried over: tags that no key can have here: '', 'a\u0000b', " +
        `'${"x".repeat(33)}'`,
    ]),
  );
});

test("a key spends no more in a longer period than it could spend there", () => {
  const key = { user_id: "ada", max_budget: 100, spend: 30 };
  const plan = liteLlm({
    keys: ["31d", "4w", "744h", "90d", "5w", "2mo", "745h", "often"].map((budget_duration) => ({
      ...key,
      token: budget_duration,
      key_alias: budget_duration,
      budget_duration,
    })),
  });
  const [month, total] = [usd("100"), ["total $70.00"]];
  const limits = plan.accounts.flatMap(({ keys }) =>
    keys.map(({ name, monthlyLimit, budgets }) => [
      name,
      monthlyLimit ?? budgets.map(({ span, amount }) => `${span} ${toDollars(amount)}`),
    ]),
  );
  expect(Object.fromEntries(limits)).toEqual({
    "31d": month,
    "4w": month,
    "744h": month,
    "90d": total,
    "5w": total,
    "2mo": total,
    "745h": total,
    often: total,
  });
  expect(plan.notes).toContain(
    "key '90d' (…): its limit was $100.00 in every 90d; here it is $70.00 of all time",
  );
  const spent = { ...key, token: "spent", spend: 100, budget_duration: "90d" };
  const several = [{ budget_duration: "90d", max_budget: 50 }];
  const others = liteLlm({
    keys: [spent, { token: "several", user_id: "ada", budget_limits: several }],
  });
  expect(others.accounts[0]?.keys).toMatchObject([
    { origin: "key:several", monthlyLimit: null, budgets: [{ span: "total", amount: usd("50") }] },
  ]);
  expect(others.notes).toContain(
    "key 'without a name' (…): its budget in every 90d is used up; no new key",
  );
});

test("limits of a shared budget are those of a key that has none of its own", () => {
  const windows = (max_budget: number) => [{ budget_duration: "1d", max_budget }];
  const shared = {
    budget_id: "b",
    max_parallel_requests: 3,
    model_max_budget: { m1: 1 },
    budget_limits: windows(2),
  };
  const own = { max_parallel_requests: 5, budget_limits: JSON.stringify(windows(4)) };
  const none = { model_max_budget: {}, budget_limits: "[]" };
  const { accounts, notes } = liteLlm({
    budgets: new Map([["b", shared]]),
    keys: [
      { key_alias: "shared", ...none },
      { key_alias: "own", ...none, ...own },
    ].map((key) => ({ token: key.key_alias, user_id: "ada", budget_id: "b", ...key })),
  });
  const budgets = accounts[0]?.keys.map((key) => key.budgets);
  expect(budgets).toEqual([
    [{ span: "day", amount: usd("2") }],
    [{ span: "day", amount: usd("4") }],
  ]);
  const lost = (count: number) =>
    `not carried over: max_parallel_requests ${count}; budgets for single models`;
  expect(notes).toEqual(
    expect.arrayContaining([`key 'shared' (…): ${lost(3)}`, `key 'own' (…): ${lost(5)}`]),
  );
});

test("models that are not possible here, or too many, are named and never become all", () => {
  const many = Array.from({ length: 52 }, (_, at) => `m${at}`);
  const team = { team_id: "t", models: ["m1", "openai/*"] };
  const { accounts, notes } = liteLlm({
    teams: [team, { team_id: "shut", models: ["no-default-models"] }],
    keys: [
      { key_alias: "many", user_id: "ada", models: many },
      { key_alias: "odd", user_id: "ada", models: ["模型", "m1"] },
      { key_alias: "none", user_id: "ada", models: ["模型"] },
      { key_alias: "all", user_id: "ada", models: ["all-proxy-models"] },
      { key_alias: "team", team_id: "t", models: ["all-team-models"] },
      { key_alias: "both", team_id: "t", models: ["openai/x", "m2", "*1"] },
      { key_alias: "apart", team_id: "t", models: ["m2"] },
      { key_alias: "shut", team_id: "shut" },
    ].map((key) => ({ token: key.key_alias, ...key })),
  });
  const models = accounts.flatMap(({ keys }) => keys.map(({ name, models }) => [name, models]));
  expect(Object.fromEntries(models)).toEqual({
    many: many.slice(0, 50),
    odd: ["m1"],
    all: null,
    team: ["m1", "openai/*"],
    both: ["openai/x", "m1"],
  });
  expect(notes).toEqual(
    expect.arrayContaining([
      "key 'many' (…): a key may name 50 models; not allowed are m50, m51",
      "key 'odd' (…): its models 模型 cannot be named so here; not allowed",
      "key 'none' (…): it may call no model; no new key",
      "key 'apart' (…): it may call no model; no new key",
      "key 'shut' (…): it may call no model; no new key",
      "team shut 'team shut': its keys may call no model; a key made later may call every one",
    ]),
  );
});

test("a token of new-api with an empty list of models gets no new key", () => {
  const token = { user_id: 1, key: "k", status: 1, unlimited_quota: 1, model_limits_enabled: 1 };
  const tokens = [
    { id: 1, ...token, model_limits: "" },
    { id: 2, ...token, model_limits: "a, b," },
  ];
  const { accounts } = oneApi({ product: "new-api", tokens });
  expect(accounts[0]?.keys.map(({ origin, models }) => [origin, models])).toEqual([
    ["key:2", ["a", "b"]],
  ]);
});

test("rates that no key can have are named, and one of zero gives no new key", () => {
  const { accounts, notes } = liteLlm({
    keys: [
      { key_alias: "large", tpm_limit: "9000000000" },
      { key_alias: "odd", rpm_limit: 1.5 },
      { key_alias: "zero", rpm_limit: 0 },
    ].map((key) => ({ token: key.key_alias, user_id: "ada", ...key })),
  });
  const rates = accounts[0]?.keys.map((key) => [key.requestsPerMinute, key.tokensPerMinute]);
  expect(rates).toEqual([
    [null, 1_000_000_000],
    [null, null],
  ]);
  expect(notes).toEqual(
    expect.arrayContaining([
      "key 'large' (…): its tpm_limit of 9000000000 is 1000000000 here, the most",
      "key 'odd' (…): not carried over: rpm_limit 1.5",
      "key 'zero' (…): its rpm_limit lets no call through; no new key",
    ]),
  );
});

test("each provider has its own variable, so that no key goes to another server", () => {
  const { catalogue } = oneApi({
    channels: ["open ai", "open.ai", "open_ai", "OPEN-AI"].map((name, at) => ({
      id: at,
      type: 1,
      status: 1,
      key: "sk-1",
      name,
      models: "m1",
      base_url: `https://${at}.example.com`,
    })),
    options: new Map(RATIOS),
  });
  const variables = Object.values(catalogue.providers).map(({ api_key_env: name }) => name);
  expect(new Set(variables).size).toBe(4);

  const prices = { input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 };
  const stored = { model: "openai/a", api_key: "sk-stored", ...prices };
  const named = { model: "openai/b", api_key: "os.environ/OPENAI_API_KEY", ...prices };
  const { catalogue: both, notes } = liteLlm({ models: [model("a", stored), model("b", named)] });
  expect(both.providers).toEqual({
    openai: { base_url: "https://api.openai.com/v1", api_key_env: "OPENAI_2_API_KEY" },
    "openai-2": { base_url: "https://api.openai.com/v1", api_key_env: "OPENAI_API_KEY" },
  });
  expect(notes).toContain("provider 'openai': put its API key into the variable OPENAI_2_API_KEY");
});

test("a secret in the address of a server is not copied", () => {
  const prices = { input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 };
  const addresses = ["https://u:swordfish@x.example/v1", "https://x.example/v1?key=swordfish"];
  const plans = addresses.flatMap((api_base) => [
    liteLlm({ models: [model("a", { model: "openai/a", api_base, ...prices })] }),
    oneApi({
      channels: [{ id: 1, type: 1, status: 1, base_url: api_base, models: "m1" }],
      options: new Map(RATIOS),
    }),
  ]);
  for (const { catalogue, notes } of plans) {
    expect(catalogue.providers).toEqual({});
    expect(notes.join()).toContain("its address has credentials, a query or a fragment; left out");
    expect(JSON.stringify([catalogue, notes])).not.toContain("swordfish");
  }
});

test("a model that new-api prices by an expression has no price by its old ratios", () => {
  const mode = '{"m1": "tiered_expr", "m2": "ratio"}';
  const { catalogue, notes } = oneApi({
    channels: [{ id: 1, type: 1, status: 1, name: "one", models: "m1,m2" }],
    options: new Map([...RATIOS, ["billing_setting.billing_mode", mode]]),
  });
  expect(catalogue.models.map(({ id }) => id)).toEqual(["m2"]);
  expect(notes).toContain("model 'm1': its price there is of the kind 'tiered_expr'; left out");
});

test("prices of a LiteLLM model that are not carried over are named", () => {
  const params = {
    model: "openai/a",
    input_cost_per_token: 1e-6,
    output_cost_per_token: 2e-6,
    input_cost_per_token_above_200k_tokens: 2e-6,
    output_cost_per_reasoning_token: null,
  };
  const info = { input_cost_per_request: 0, cache_creation_input_token_cost: 3e-6, mode: "chat" };
  const { catalogue, notes } = liteLlm({ models: [model("a", params, info)] });
  expect(catalogue.models).toHaveLength(1);
  expect(notes).toContain(
    "model 'a': not carried over: cache_creation_input_token_cost, " +
      "input_cost_per_token_above_200k_tokens",
  );
});

test("lengths and prices that no file can have are named, and the file is readable", () => {
  const priced = (input: number, output: number) => ({
    model: "openai/a",
    api_key: "os.environ/KEY",
    input_cost_per_token: input,
    output_cost_per_token: output,
  });
  const { catalogue, notes } = liteLlm({
    models: [
      model("none", priced(1e-6, 1e-6), { max_input_tokens: 0 }),
      model("negative", priced(1e-6, 1e-6), { max_tokens: -1 }),
      model("endless", priced(1e-6, 1e-6), { max_tokens: 1e12 }),
      model("by the million", priced(0.15, 0.6)),
      model("most", priced(0.01, 0.01), { max_input_tokens: 256 }),
    ].map((row) => ({ ...row, model_name: row.model_name.replaceAll(" ", "-") })),
  });
  const lengths = catalogue.models.map(({ id, context_length }) => [id, context_length]);
  expect(Object.fromEntries(lengths)).toEqual({
    none: 8_192,
    negative: 8_192,
    endless: 8_192,
    most: 256,
  });
  expect(notes).toContain(
    "model 'by-the-million': a price above 10000 USD is not possible here; left out",
  );
  expect(() => parseCatalogue(JSON.stringify(catalogue), { KEY: "k" })).not.toThrow();
});

function oneApi(tables: {
  readonly product?: "one-api" | "new-api";
  readonly tokens?: readonly ForeignRow[];
  readonly channels?: readonly ForeignRow[];
  readonly options?: ReadonlyMap<string, string>;
}) {
  const users = [{ id: 1, username: "ada", status: 1, quota: 1 }];
  const none = { tokens: [], channels: [], options: new Map<string, string>() };
  return planOneApi({ product: "one-api", users, ...none, ...tables }, TERMS);
}

function liteLlm(tables: {
  readonly teams?: readonly ForeignRow[];
  readonly keys?: readonly ForeignRow[];
  readonly models?: readonly ForeignRow[];
  readonly budgets?: ReadonlyMap<string, ForeignRow>;
}) {
  const users = [{ user_id: "ada" }];
  const people = { users, teams: [], organizations: [], memberships: [], endUsers: [] };
  const none = { keys: [], models: [], budgets: new Map<string, ForeignRow>() };
  return planLiteLlm(
    { ...people, ...none, ...tables },
    { ...TERMS, unseal: null, endUsersOf: null },
  );
}

function model(model_name: string, litellm_params: object, model_info: object = {}) {
  return { model_name, litellm_params, model_info };
}
