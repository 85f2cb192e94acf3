// Shares the parts of import tests: a world with a command line, a folder for the files, and
// readers of the result.

import { expect } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { type Cli, cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { testDatabaseUrl } from "../../support/stores/services.ts";
import { openWorld, type World } from "../../support/stores/world.ts";

export interface ImportLab extends AsyncDisposable {
  readonly world: World;
  readonly cli: Cli;
  /** The folder that the import writes to. */
  readonly folder: string;
  /** Returns a path for a file of the test. */
  path(name: string): string;
  /** The address of a new Postgres database without any table. */
  emptyDatabase(): Promise<string>;
  /** The accounts by their name, with their balance in the ledger. */
  accounts(): Promise<Record<string, Imported>>;
  /** The lines of the key file without its header, as cells. */
  keyLines(): string[][];
  /** The models file, without its comments. */
  // biome-ignore lint/suspicious/noExplicitAny: a test knows which fields are there
  models(): any;
  /** Flushes the journal, and audits the whole installation. */
  expectClean(): Promise<void>;
}

export interface ImportedKey {
  readonly name: string;
  readonly limit: string | null;
  readonly ips: readonly string[];
  /** Limits that not every key has; each only where it is set. */
  readonly ends?: string;
  readonly models?: readonly string[];
  readonly rpm?: number;
  readonly tpm?: number;
  readonly tags?: readonly string[];
  /** USD by span. */
  readonly budgets?: Readonly<Record<string, string>>;
}

export interface Imported {
  readonly id: string;
  readonly email: string | null;
  readonly state: string;
  /** In USD, as digits. */
  readonly paid: string;
  readonly free: string;
  /** The account's own cap of a month, in USD, as digits. */
  readonly cap: string | null;
  /** The account's budgets, in USD by span. */
  readonly budgets: Readonly<Record<string, string>> | null;
  readonly keys: readonly ImportedKey[];
}

export async function openImportLab(): Promise<ImportLab> {
  const world = await openWorld();
  const cli = await cliOf(world);
  const parent = mkdtempSync(join(tmpdir(), "farebox-test-import-"));
  const folder = join(parent, "out");
  const server = postgres(await testDatabaseUrl(), { max: 1 });
  const databases: string[] = [];
  return {
    world,
    cli,
    folder,
    path: (name) => join(parent, name),
    emptyDatabase: async () => {
      const name = `foreign_${randomBytes(8).toString("hex")}`;
      await server.unsafe(`CREATE DATABASE ${name}`);
      databases.push(name);
      return Object.assign(new URL(await testDatabaseUrl()), { pathname: `/${name}` }).href;
    },
    accounts: () => readAccounts(world),
    keyLines: () => {
      const file = join(folder, "keys.csv");
      expect(statSync(file).mode & 0o777).toBe(0o600);
      return cells(readFileSync(file, "utf8")).slice(1);
    },
    models: () => Bun.JSONC.parse(readFileSync(join(folder, "models.json"), "utf8")),
    expectClean: async () => {
      await world.flush();
      const audit = jsonOf(await cli("audit", "--json"));
      expect(audit.ok).toBe(true);
    },
    [Symbol.asyncDispose]: async () => {
      rmSync(parent, { recursive: true, force: true });
      for (const name of databases) await server.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
      await server.end();
      await world[Symbol.asyncDispose]();
    },
  };
}

async function readAccounts(world: World): Promise<Record<string, Imported>> {
  await world.flush();
  const rows = await world.database.sql`
    SELECT a.name, a.id, a.email, a.state, trim_scale(a.own_cap / 1e9)::text AS cap,
      (SELECT jsonb_object_agg(b.span, trim_scale(b.amount / 1e9)::text)
        FROM budgets b WHERE b.account = a.number AND b.key IS NULL) AS budgets,
      coalesce(l.paid_after, 0) / 1e9 AS paid, coalesce(l.free_after, 0) / 1e9 AS free,
      coalesce((SELECT json_agg(jsonb_build_object('name', k.name, 'ips', k.ip_allowlist,
          'limit', trim_scale(k.monthly_limit / 1e9)::text) || jsonb_strip_nulls(
          jsonb_build_object('ends', to_char(k.ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
          'models', k.models, 'rpm', k.requests_per_minute, 'tpm', k.tokens_per_minute,
          'tags', nullif(k.tags, '{}'),
          'budgets', (SELECT jsonb_object_agg(b.span, trim_scale(b.amount / 1e9)::text)
            FROM budgets b WHERE b.key = k.number))) ORDER BY k.number)
        FROM keys k WHERE k.account = a.number), '[]') AS keys
    FROM accounts a LEFT JOIN LATERAL (SELECT paid_after, free_after FROM ledger_entries
      WHERE account = a.number ORDER BY seq DESC LIMIT 1) l ON true`;
  return Object.fromEntries(
    rows.map(({ name, paid, free, ...row }) => [
      name,
      { ...row, paid: String(Number(paid)), free: String(Number(free)) } as unknown as Imported,
    ]),
  );
}

function cells(text: string): string[][] {
  return text
    .trimEnd()
    .split("\r\n")
    .map((line) => [...line.matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell = ""]) => cell));
}
