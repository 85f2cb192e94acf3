// Tests `farebox migrate` as the first command on new stores: it refuses stores that no process
// could run on.

import { describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import journal from "../../../migrations/meta/_journal.json";
import { freePort } from "../../../scripts/local/processes.mjs";
import { Unreleased } from "../../../src/core/start-error.ts";
import { type Database, openDatabase } from "../../../src/store/servers/database.ts";
import { checkMigrated, compareMigrations } from "../../../src/store/servers/migrate.ts";
import { cliOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { createTestDatabase, startPrivateRedis } from "../../support/stores/services.ts";
import { openWorld } from "../../support/stores/world.ts";

const FIRST_MIGRATION = Math.min(...journal.entries.map(({ when }) => when));

const world = await shared(openWorld());

/** Runs the test with an empty database, and its address. */
async function withEmpty(run: (database: Database, url: string) => Promise<void>): Promise<void> {
  await using created = await createTestDatabase();
  const database = openDatabase(created.url);
  try {
    await database.sql.unsafe("DROP SCHEMA public, drizzle CASCADE; CREATE SCHEMA public");
    await run(database, created.url);
  } finally {
    await database.close();
  }
}

async function isEmpty(database: Database): Promise<boolean> {
  const [row] = await database.sql`SELECT to_regclass('accounts') AS name`;
  return row?.name == null && (await compareMigrations(database)).missing > 0;
}

test("a Redis that no process would take is refused, and nothing is migrated", async () => {
  await using redis = await startPrivateRedis();
  const client = new Redis(redis.url);
  await client.config("SET", "appendonly", "no");
  client.disconnect();
  const unsafe = "Redis runs with 'appendonly no' and could lose money: set 'appendonly yes'";
  await withEmpty(async (database, url) => {
    for (const [address, words] of [
      [`redis://127.0.0.1:${await freePort()}`, "Redis cannot be reached: check its address"],
      [redis.url, unsafe],
    ] as const) {
      const cli = await cliOf(world, { DATABASE_URL: url, REDIS_URL: address });
      const { code, err } = await cli("migrate");
      expect([code, err]).toEqual([1, expect.stringContaining(words)]);
      expect(await isEmpty(database)).toBe(true);
    }
  });
});

test("an empty database of a Postgres that is too old is refused", async () => {
  await withEmpty(async (database, url) => {
    const { sql } = database;
    // The version that an older server would report.
    await sql.unsafe(`CREATE SCHEMA older;
      CREATE FUNCTION older.current_setting(text) RETURNS text LANGUAGE sql
        AS $$ SELECT CASE $1 WHEN 'server_version_num' THEN '170006'
          ELSE pg_catalog.current_setting($1) END $$`);
    const [row] = await sql<{ name: string }[]>`SELECT current_database() AS name`;
    await sql.unsafe(`ALTER DATABASE ${row?.name} SET search_path = older, public, pg_catalog`);
    const cli = await cliOf(world, { DATABASE_URL: url });
    const { code, err } = await cli("migrate");
    expect([code, err]).toEqual([1, "Postgres 17 is too old: 18 is needed\n"]);
    expect(await isEmpty(database)).toBe(true);
  });
});

describe("data of a version before the first release is refused, and stays unchanged:", () => {
  const words = (store: string) => `${store} has data of a version from before 0.1.0`;

  test("a database whose migrations no release has", async () => {
    await withEmpty(async (database, url) => {
      const { sql } = database;
      await sql.unsafe(`CREATE SCHEMA drizzle;
        CREATE TABLE drizzle.__drizzle_migrations (id serial, hash text, created_at bigint);
        INSERT INTO drizzle.__drizzle_migrations (hash, created_at)
          VALUES ('of another', ${FIRST_MIGRATION - 1}), ('of a later one', ${Date.now()});
        CREATE TABLE accounts (id text);
        INSERT INTO accounts VALUES ('acct_1')`);
      const cli = await cliOf(world, { DATABASE_URL: url });
      for (const command of ["migrate", "audit"]) {
        const { code, out, err } = await cli(command);
        expect([command, code, out + err]).toEqual([
          command,
          1,
          expect.stringContaining(words("Postgres")),
        ]);
      }
      await expect(checkMigrated(database)).rejects.toBeInstanceOf(Unreleased);
      const tables = await sql`SELECT relname FROM pg_stat_user_tables ORDER BY relname`;
      expect(tables.map(({ relname }) => relname)).toEqual(["__drizzle_migrations", "accounts"]);
      expect([...(await sql`SELECT id FROM accounts`)]).toEqual([{ id: "acct_1" }]);
    });
  });

  test("a Redis with wallets of the first layout", async () => {
    await using redis = await startPrivateRedis();
    const client = new Redis(redis.url);
    await client.hset("{b7}:meta", { epoch: 1, entry: 2 });
    await client.hset("{b7}:wallet:acct_1", { paid: "5" });
    await withEmpty(async (database, url) => {
      const cli = await cliOf(world, { DATABASE_URL: url, REDIS_URL: redis.url });
      const { code, err } = await cli("migrate");
      expect([code, err]).toEqual([1, expect.stringContaining(words("Redis"))]);
      expect(await isEmpty(database)).toBe(true);
    });
    expect(await client.dbsize()).toBe(2);
    expect(await client.hgetall("{b7}:wallet:acct_1")).toEqual({ paid: "5" });
    client.disconnect();
  });
});

test("doctor names the step for everything that an empty database lacks", async () => {
  await withEmpty(async (_, url) => {
    const env = { DATABASE_URL: url, PORT: String(await freePort()) };
    const { code, err } = await (await cliOf(world, env))("doctor");
    const problems = err.split("\n").filter((line) => line.startsWith("PROBLEM"));
    expect(code).toBe(1);
    const checks = problems.map((line) => line.split(/\s+/)[1]);
    expect(checks).toEqual(
      expect.arrayContaining(["schema", "secrets", "journal", "configuration"]),
    );
    for (const line of problems) expect(line).toContain("farebox migrate");
  });
});

test("sound stores are ready, and the command may be repeated", async () => {
  await withEmpty(async (_, url) => {
    const cli = await cliOf(world, { DATABASE_URL: url });
    for (const _ of ["first", "again"]) {
      const { code, out } = await cli("migrate");
      expect([code, out]).toEqual([0, "Postgres and Redis are ready for this release.\n"]);
    }
  });
});
