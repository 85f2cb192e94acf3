// Makes a base backup of one test's Postgres with archived WAL, and restores it to a point in time,
// as an operator's tools do. The packaged Postgres has no pg_basebackup, so its steps are done
// here.

import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { eventually } from "../eventually.ts";
import type { PrivateStore } from "./services.ts";

/** A folder inside the data folder, the only one that the user of Postgres can surely reach. */
const ARCHIVE = "archive";

/** The settings of a Postgres that archives its WAL. */
export const ARCHIVING = {
  wal_level: "replica",
  archive_mode: "on",
  archive_command: `test ! -f ${ARCHIVE}/%f && cp %p ${ARCHIVE}/%f`,
  restore_command: `cp ${ARCHIVE}/%f %p`,
  // Postgres answers once the restore is complete, not during the replay.
  hot_standby: "off",
} as const;

export interface BaseBackup {
  /** Puts Postgres back to this time, and starts it. */
  readonly restoreTo: (time: Date) => Promise<void>;
}

/** Makes the folder that the WAL is archived to; call it before anything is written. */
export function makeArchive(store: PrivateStore): void {
  const folder = join(store.dir, ARCHIVE);
  mkdirSync(folder, { recursive: true });
  giveTo(store, folder);
}

/** Copies the data folder to `folder` while Postgres runs. */
export async function baseBackup(store: PrivateStore, folder: string): Promise<BaseBackup> {
  const sql = postgres(store.url, { max: 1, onnotice: () => {} });
  try {
    await sql`SELECT pg_backup_start('test', true)`;
    mkdirSync(folder, { recursive: true });
    copyData(store.dir, folder);
    const [stopped] = await sql`SELECT labelfile FROM pg_backup_stop(true)`;
    writeFileSync(join(folder, "backup_label"), String(stopped?.labelfile));
  } finally {
    await sql.end();
  }
  return { restoreTo: (time) => restoreTo(store, folder, time) };
}

/** Postgres may remove or shorten files meanwhile; the WAL makes them whole again. */
function copyData(from: string, to: string): void {
  const exclude = ["postmaster.pid", "postmaster.opts", ARCHIVE, "pg_wal"];
  for (const name of readdirSync(from).filter((one) => !exclude.includes(one))) {
    spawnSync("cp", ["-a", join(from, name), to]);
  }
  mkdirSync(join(to, "pg_wal"), { recursive: true, mode: 0o700 });
}

async function restoreTo(store: PrivateStore, folder: string, time: Date): Promise<void> {
  await archiveAll(store);
  await store.kill9();
  for (const name of readdirSync(store.dir).filter((one) => one !== ARCHIVE)) {
    rmSync(join(store.dir, name), { recursive: true, force: true });
  }
  for (const name of readdirSync(folder)) spawnSync("cp", ["-a", join(folder, name), store.dir]);
  const settings = [
    `recovery_target_time = '${time.toISOString().replace("T", " ").replace("Z", "+00")}'`,
    "recovery_target_action = 'promote'",
  ];
  appendFileSync(join(store.dir, "postgresql.auto.conf"), `${settings.join("\n")}\n`);
  writeFileSync(join(store.dir, "recovery.signal"), "");
  for (const name of ["recovery.signal", "backup_label", "pg_wal"]) {
    giveTo(store, join(store.dir, name));
  }
  await store.start();
}

/** Postgres archives the last WAL file only when it is full, or on demand. */
async function archiveAll({ url, dir }: PrivateStore): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const [last] = await sql`SELECT pg_walfile_name(pg_current_wal_lsn()) AS name`;
    await sql`SELECT pg_switch_wal()`;
    await eventually("the WAL is archived", () =>
      existsSync(join(dir, ARCHIVE, String(last?.name))),
    );
  } finally {
    await sql.end();
  }
}

function giveTo({ dir }: PrivateStore, path: string): void {
  const { uid, gid } = statSync(dir);
  chownSync(path, uid, gid);
}
