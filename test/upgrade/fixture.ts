// The home that commit db86232 left (first-layout/README.md), on stores of its own.

import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import postgres from "postgres";
import type { FirstLayoutDeps } from "../../actors/first-layout.ts";
import type { RedisClient } from "../../actors/script.ts";
import { makeHome } from "../../scripts/home.mjs";
import { temporaryFolder } from "../../scripts/processes.mjs";
import { startRedis } from "../../scripts/redis.mjs";
import { type Database, openDatabase } from "../../src/store/database.ts";
import { FirstLayoutRepository } from "../../src/store/first-layout.ts";
import { Ledger } from "../../src/store/ledger.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openRedis } from "../../src/store/redis.ts";
import { WalletRepository } from "../../src/store/wallet-repository.ts";
import { testDatabaseUrl } from "../support/services.ts";

const FOLDER = join(import.meta.dir, "first-layout");

interface Balances {
  readonly paid: string;
  readonly free: string;
}

/** What the workers of that commit made of an account: the journal flushed, all holds swept. */
export interface Outcome {
  readonly owned: Balances;
  readonly held: Balances;
  readonly seq: number;
  readonly charged: string;
  readonly expired: string;
  readonly creditsApplied: number;
  readonly logRows: number;
  readonly loggedRequests: number;
  readonly loggedCost: string;
}

export interface ExpectedAccount {
  readonly id: string;
  readonly number: number;
  readonly bucket: number;
  readonly keys: readonly { readonly id: string; readonly name: string }[];
  readonly afterWorkers: { readonly soon: Outcome };
}

export interface ExpectedMessage {
  readonly id: string;
  readonly request: string;
}

interface Expected {
  readonly takenAtMs: number;
  readonly secrets: {
    readonly keyPepper: string;
    readonly ipHashSecret: string;
    readonly mailDomain: string;
  };
  readonly accounts: Readonly<Record<string, ExpectedAccount>>;
  readonly mail: {
    readonly messages: Readonly<Record<"fresh" | "deferred" | "ended" | "sent", ExpectedMessage>>;
    readonly contentKeys: Readonly<Record<string, string>>;
  };
  readonly ownersAway: Readonly<Record<string, { readonly terms: object }>>;
}

export const EXPECTED: Expected = JSON.parse(readFileSync(join(FOLDER, "expected.json"), "utf8"));

/** @throws Error for an unknown label */
export function expectedAccount(label: string): ExpectedAccount {
  const account = EXPECTED.accounts[label];
  if (account === undefined) throw new Error(`The fixture has no account ${label}`);
  return account;
}

export interface FixtureHome extends AsyncDisposable {
  readonly folder: string;
  readonly redisUrl: string;
  readonly databaseUrl: string;
  readonly redis: RedisClient;
  readonly database: Database;
  /** What the step warned of. */
  readonly warnings: string[];
  deps(): FirstLayoutDeps;
}

/**
 * Loads the fixture and brings its schema to this release. `kept` has what expires as it was at the
 * moment of the stop; without it, as in a home that was left alone for long.
 */
export async function openFixture({ kept }: { readonly kept: boolean }): Promise<FixtureHome> {
  const folder = temporaryFolder("farebox-test-upgrade-");
  makeHome(folder.path);
  const data = join(folder.path, "redis");
  mkdirSync(data, { mode: 0o700 });
  const archive = join(FOLDER, kept ? "redis-aof-kept.tar.gz" : "redis-aof.tar.gz");
  const unpacked = spawnSync("tar", ["-xzf", archive, "-C", data], { encoding: "utf8" });
  if (unpacked.status !== 0) throw new Error(unpacked.stderr);
  const [server, databaseUrl] = await Promise.all([
    startRedis({ home: folder.path, settings: { appendfsync: "no" } }),
    loadedDatabase(),
  ]);
  const redis = openRedis(server.url);
  const database = openDatabase(databaseUrl);
  const warnings: string[] = [];
  return {
    folder: folder.path,
    redisUrl: server.url,
    databaseUrl,
    redis,
    database,
    warnings,
    deps: () => ({
      redis,
      firstLayout: new FirstLayoutRepository(database),
      repository: new WalletRepository(database),
      ledger: new Ledger(database),
      warn: (line) => warnings.push(line),
    }),
    [Symbol.asyncDispose]: async () => {
      redis.disconnect();
      await database.close();
      await Promise.all([server.stop(), dropDatabase(databaseUrl)]);
      folder.remove();
    },
  };
}

async function loadedDatabase(): Promise<string> {
  const url = new URL(await testDatabaseUrl());
  const name = `upgrade_${randomBytes(8).toString("hex")}`;
  await withSql(url.href, (sql) => sql.unsafe(`CREATE DATABASE ${name}`));
  url.pathname = `/${name}`;
  const dump = gunzipSync(readFileSync(join(FOLDER, "postgres.sql.gz"))).toString("utf8");
  await withSql(url.href, (sql) => sql.unsafe(dump));
  await migrate(url.href);
  return url.href;
}

async function dropDatabase(databaseUrl: string): Promise<void> {
  const name = new URL(databaseUrl).pathname.slice(1);
  const server = await testDatabaseUrl();
  await withSql(server, (sql) => sql.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
}

async function withSql(url: string, run: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await run(sql);
  } finally {
    await sql.end();
  }
}

/** What Postgres has of an account, in the words of the fixture. */
export async function readOutcome(
  { database: { sql } }: FixtureHome,
  { number }: ExpectedAccount,
): Promise<Outcome> {
  const [ledger] = await sql`
    SELECT coalesce(max(seq), 0)::int AS seq,
      coalesce(-sum(paid_delta + free_delta) FILTER (WHERE kind IN ('charge', 'late_charge')), 0)
        AS charged,
      coalesce(-sum(free_delta) FILTER (WHERE kind = 'free_expired'), 0) AS expired,
      coalesce(max(operation), 0)::int AS credits
    FROM ledger_entries WHERE account = ${number}`;
  const [last] = await sql`
    SELECT paid_after, free_after FROM ledger_entries
    WHERE account = ${number} ORDER BY seq DESC LIMIT 1`;
  const [log] = await sql`
    SELECT count(*)::int AS rows, coalesce(sum(requests), 0)::int AS requests,
      coalesce(sum(cost), 0) AS cost
    FROM request_log WHERE account = ${number}`;
  return {
    owned: { paid: String(last?.paid_after ?? 0), free: String(last?.free_after ?? 0) },
    held: { paid: "0", free: "0" },
    seq: ledger?.seq,
    charged: String(ledger?.charged),
    expired: String(ledger?.expired),
    creditsApplied: ledger?.credits,
    logRows: log?.rows,
    loggedRequests: log?.requests,
    loggedCost: String(log?.cost),
  };
}
