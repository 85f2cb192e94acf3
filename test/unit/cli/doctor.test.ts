// Tests `farebox doctor`: each fault is named with the step that mends it.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freshFiles } from "../../../actors/redis/append-only-file.ts";
import { freePort } from "../../../scripts/local/processes.mjs";
import { openDatabase } from "../../../src/store/servers/database.ts";
import { compareMigrations } from "../../../src/store/servers/migrate.ts";
import { UntrustedProxies } from "../../../src/store/servers/untrusted-proxies.ts";
import { eventually } from "../../support/eventually.ts";
import { OidcIssuer } from "../../support/fakes/oidc-issuer.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared, sharedFolder } from "../../support/shared.ts";
import { createTestDatabase, startPrivateRedis } from "../../support/stores/services.ts";
import { openWorld } from "../../support/stores/world.ts";

const folder = sharedFolder("doctor");
const world = await shared(openWorld());

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly text: string;
}

async function examine(env: Record<string, string> = {}) {
  const settings = { PORT: String(await freePort()), ...env };
  const { code, out, err } = await (await cliOf(world, settings))("doctor", "--json");
  const { findings } = JSON.parse(out) as { readonly findings: readonly Finding[] };
  const problems = findings.filter(({ state }) => state === "problem");
  return { code, err, findings, problems: problems.map(({ check, text }) => `${check}: ${text}`) };
}

function catalogueFile(baseUrl: string, others: object = {}): string {
  const path = join(folder, "farebox.config.json");
  const model = {
    id: "one",
    label: "One",
    family: "one",
    owned_by: "example",
    context_length: 8_000,
    pricing: [{ input_usd_per_m: "1", output_usd_per_m: "2" }],
    routes: [{ provider: "upstream", model: "one" }],
  };
  const providers = { upstream: { base_url: baseUrl, api_key_env: "UPSTREAM_KEY" } };
  writeFileSync(path, JSON.stringify({ providers, models: [model], ...others }));
  return path;
}

test("a sound installation has nothing to mend, and lists the parts without settings", async () => {
  const { code, findings, problems } = await examine();
  expect(problems).toEqual([]);
  expect(code).toBe(0);
  const warned = findings.filter(({ state }) => state === "warning").map(({ check }) => check);
  expect(warned).toContain("mail");
  expect(warned).toContain("payments");
  const told = findings.find(({ check }) => check === "Postgres")?.text;
  expect(told).toMatch(/^answers in \d+ ms/);
});

test("doctor reports whether Redis rewrote its append-only file since it started", async () => {
  await using store = await startPrivateRedis();
  const redis = new Redis(store.url);
  const told = async () => {
    const { findings } = await examine({ REDIS_URL: store.url, QUEUE_REDIS_URL: store.url });
    return findings.filter(({ text }) => text.includes("append-only")).map(({ state }) => state);
  };
  try {
    await redis.acl("SETUSER", "default", "-bgrewriteaof");
    expect(await told()).toEqual(["warning"]);
    await redis.acl("SETUSER", "default", "+bgrewriteaof");
    await freshFiles({ redis, log: silent })();
    expect(await told()).toEqual(["ok"]);
  } finally {
    redis.disconnect();
  }
});

test("all faults are named at once, and the exit code is 1", async () => {
  using upstream = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("no", { status: 401 }),
  });
  const { code, problems } = await examine({
    FAREBOX_CONFIG: catalogueFile(`${upstream.url.origin}/v1`),
    UPSTREAM_KEY: "wrong",
    MAIL_SMTP_URL: "smtp://127.0.0.1:1?tls=none",
    MAIL_DOMAIN: "mail.test",
    QUEUE_REDIS_URL: "redis://127.0.0.1:1",
    STRIPE_SECRET_KEY: "sk_test_1",
    STRIPE_WEBHOOK_SECRET: "whsec_1234567890123456",
    STRIPE_RETURN_URL: "https://shop.example",
    STRIPE_API_BASE: "http://127.0.0.1:1",
  });
  expect(code).toBe(1);
  const checks = problems.map((line) => line.split(":")[0]);
  expect(checks).toEqual(["Redis of the queue", "models", "mail", "payments"]);
  expect(problems.join("\n")).toContain("models: upstream: The server refuses the key (401)");
  expect(problems.join("\n")).toContain("mail: 127.0.0.1: the server cannot be reached");
});

test("each key that a configuration lacks is a finding of its own", async () => {
  const search = { providers: [{ kind: "brave", api_key_env: "SEARCH_KEY" }] };
  const file = catalogueFile("http://127.0.0.1:1", { search });
  const { problems } = await examine({ FAREBOX_CONFIG: file });
  expect(problems).toEqual([
    expect.stringMatching(/^models: .* an environment variable 'UPSTREAM_KEY' that is not set$/),
    expect.stringMatching(/^models: .* an environment variable 'SEARCH_KEY' that is not set$/),
  ]);
});

test("models whose longest reply is not configured are named", async () => {
  const FAREBOX_CONFIG = catalogueFile("http://127.0.0.1:1");
  const { findings } = await examine({ FAREBOX_CONFIG, UPSTREAM_KEY: "key" });
  expect(findings).toContainEqual({
    check: "models",
    state: "warning",
    text: expect.stringMatching(/^Without max_output_tokens: one\. .* \/v1\/responses .* 4096/),
  });
});

test("a model server without a list, as below a wrong base_url, is a warning", async () => {
  using upstream = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => {
      const statuses: Readonly<Record<string, number>> = {
        "/v1/models": 503,
        "/busy/models": 429,
        "/without/models": 501,
      };
      return new Response("no", { status: statuses[new URL(url).pathname] ?? 404 });
    },
  });
  const lookAt = async (path: string) => {
    const file = catalogueFile(`${upstream.url.origin}${path}`);
    const { findings } = await examine({ FAREBOX_CONFIG: file, UPSTREAM_KEY: "key" });
    return findings.filter(({ text }) => text.startsWith("upstream"));
  };
  expect(await lookAt("")).toMatchObject([
    {
      state: "warning",
      text: expect.stringMatching(/^upstream answers 404 in place of .* Most end with \/v1$/),
    },
  ]);
  expect(await lookAt("/busy")).toMatchObject([
    { state: "warning", text: expect.stringContaining("answers 429 in place of a list") },
  ]);
  expect(await lookAt("/without")).toMatchObject([
    { state: "warning", text: expect.stringContaining("answers 501 in place of a list") },
  ]);
  expect(await lookAt("/v1")).toMatchObject([
    { state: "problem", text: "upstream: The server fails (503)" },
  ]);
});

test("the provider of single sign-on is asked for its metadata and keys", async () => {
  await using issuer = await OidcIssuer.start(["http://127.0.0.1/dashboard/sso"]);
  const settings = (address: string) => ({
    SESSION_SECRET: "a session secret that is long enough",
    OPERATOR_OIDC_ISSUER: address,
    OPERATOR_OIDC_CLIENT_ID: "farebox",
    OPERATOR_OIDC_CLIENT_SECRET: "secret",
  });
  const fine = await examine(settings(issuer.issuer));
  expect(fine.problems).toEqual([]);
  const told = fine.findings.find(({ check }) => check === "single sign-on");
  expect(told).toMatchObject({ state: "ok", text: `${issuer.issuer} answers` });
  const renamed = issuer.issuer.replace("127.0.0.1", "localhost");
  const wrong = await examine(settings(renamed));
  expect(wrong.problems).toEqual([expect.stringContaining("single sign-on: ")]);
  expect(wrong.problems[0]).toContain("issuer");
  const away = await examine(settings("http://127.0.0.1:1"));
  expect([away.code, away.problems.length]).toEqual([1, 1]);
});

test("a schema of an earlier release and other secrets are problems", async () => {
  const { sql } = world.database;
  const [last] = await sql`
    DELETE FROM drizzle.__drizzle_migrations
    WHERE id = (SELECT max(id) FROM drizzle.__drizzle_migrations) RETURNING *`;
  await sql`INSERT INTO secrets (name, fingerprint) VALUES ('KEY_PEPPER', 'another')`;
  try {
    const { code, problems } = await examine();
    expect(code).toBe(1);
    expect(problems[0]).toBe("schema: 1 migrations are missing: run farebox migrate");
    expect(problems[1]).toStartWith("secrets: KEY_PEPPER is not the secret");
  } finally {
    await sql`INSERT INTO drizzle.__drizzle_migrations ${sql(last ?? {})}`;
    await sql`DELETE FROM secrets`;
  }
  expect(jsonOf(await (await cliOf(world))("doctor", "--json"))).toMatchObject({ ok: true });
});

test("a command before `farebox migrate` says to run it", async () => {
  await using empty = await createTestDatabase();
  const other = openDatabase(empty.url);
  await other.sql.unsafe("DROP SCHEMA public, drizzle CASCADE; CREATE SCHEMA public");
  await other.close();
  const cli = await cliOf(world, { DATABASE_URL: empty.url });
  for (const command of [["account", "find"], ["audit"], ["backup", "check"], ["event", "list"]]) {
    const { code, err } = await cli(...command);
    expect([command, code, err]).toEqual([command, 1, expect.stringContaining("farebox migrate")]);
  }
});

test("a migration whose file was edited since it ran is not missing", async () => {
  const { sql } = world.database;
  const [last] = await sql`SELECT id, hash FROM drizzle.__drizzle_migrations ORDER BY id DESC`;
  const id = Number(last?.id);
  await sql`UPDATE drizzle.__drizzle_migrations SET hash = 'of another text' WHERE id = ${id}`;
  try {
    expect(await compareMigrations({ sql })).toEqual({ missing: 0, newer: 0 });
  } finally {
    const hash = String(last?.hash);
    await sql`UPDATE drizzle.__drizzle_migrations SET hash = ${hash} WHERE id = ${id}`;
  }
});

test("unchecked certificates, and an unnamed proxy, are warnings", async () => {
  const warnings = async (env: Record<string, string>) => {
    const { findings } = await examine(env);
    return findings.filter(({ check, state }) => check === "settings" && state === "warning");
  };
  expect(await warnings({})).toEqual([]);
  new UntrustedProxies(world.database, Date.now).report("127.0.0.1", silent);
  await eventually("the proxy is remembered", async () => (await warnings({})).length === 1);
  const both = await warnings({ NODE_TLS_REJECT_UNAUTHORIZED: "0" });
  expect(both.map(({ text }) => text.split(" ")[0])).toEqual([
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "Requests",
  ]);
  expect(await warnings({ TRUSTED_PROXIES: "127.0.0.0/8" })).toEqual([]);
});
