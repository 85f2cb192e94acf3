// Runs a standby of a test's Postgres by streaming replication, asynchronous as by default.

import { spawnSync } from "node:child_process";
import { appendFileSync, chownSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { makeHome } from "../../../scripts/local/home.mjs";
import { startPostgres } from "../../../scripts/local/postgres.mjs";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { eventually } from "../eventually.ts";
import { baseBackup } from "../stores/postgres-backup.ts";
import type { PrivateStore } from "../stores/services.ts";

/** The settings of a Postgres that has a standby. */
export const REPLICATING = {
  wal_level: "replica",
  max_wal_senders: "4",
  wal_keep_size: "256MB",
} as const;

export interface Standby extends AsyncDisposable {
  /** Both servers, for DATABASE_URL: a client takes the one that can be written to. */
  readonly url: string;
  /**
   * Ends the replication: the standby gets all transactions committed until now, and no later ones.
   */
  cutOff(): Promise<void>;
  promote(): Promise<void>;
}

/** Copies the primary and starts the copy as its standby. */
export async function startStandby(primary: PrivateStore): Promise<Standby> {
  await using resources = new AsyncDisposableStack();
  const folder = temporaryFolder("farebox-test-standby-");
  resources.defer(() => folder.remove());
  makeHome(folder.path);
  const { uid, gid } = statSync(primary.dir);
  appendFileSync(
    join(primary.dir, "pg_hba.conf"),
    "host replication all 127.0.0.1/32 scram-sha-256\n",
  );
  await run(primary.url, "SELECT pg_reload_conf()");
  const dir = join(folder.path, "postgres");
  await baseBackup(primary, dir);
  const { username, password, port } = new URL(primary.url);
  const from = `host=127.0.0.1 port=${port} user=${username} password=${password}`;
  appendFileSync(join(dir, "postgresql.auto.conf"), `primary_conninfo = '${from}'\n`);
  writeFileSync(join(dir, "standby.signal"), "");
  for (const path of [
    dir,
    ...["standby.signal", "backup_label", "pg_wal"].map((n) => join(dir, n)),
  ]) {
    chownSync(path, uid, gid);
  }
  spawnSync("chmod", ["700", dir]);
  const known = readFileSync(join(primary.dir, "../postgres.json"), "utf8");
  const state = JSON.parse(known) as { readonly password: string };
  writeFileSync(join(folder.path, "postgres.json"), JSON.stringify({ password: state.password }));
  const standby = await startPostgres({ home: folder.path, settings: { ...REPLICATING } });
  resources.defer(() => standby.stop());
  await eventually("the standby follows", async () => {
    const rows = await run(primary.url, "SELECT state FROM pg_stat_replication");
    return rows.some((row) => row.state === "streaming");
  });
  const kept = resources.move();
  const url = primary.url.replace(
    `127.0.0.1:${port}`,
    `127.0.0.1:${port},127.0.0.1:${standby.port}`,
  );
  return {
    url: `${url}?target_session_attrs=read-write`,
    cutOff: async () => {
      const [now] = await run(primary.url, "SELECT pg_current_wal_lsn()::text AS state");
      const isBehind = `SELECT state FROM pg_stat_replication WHERE replay_lsn < '${now?.state}'`;
      await eventually("the standby has all until now", async () => {
        return (await run(primary.url, isBehind)).length === 0;
      });
      await run(standby.url, "ALTER SYSTEM SET primary_conninfo = ''");
      await run(standby.url, "SELECT pg_reload_conf()");
      await eventually("the standby is cut off", async () => {
        return (await run(primary.url, "SELECT state FROM pg_stat_replication")).length === 0;
      });
    },
    promote: async () => {
      await run(standby.url, "SELECT pg_promote()");
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function run(url: string, statement: string): Promise<{ readonly state?: string }[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return [...(await sql.unsafe<{ state?: string }[]>(statement))];
  } finally {
    await sql.end();
  }
}
