// Runs PgBouncer in transaction mode in front of a test's Postgres.

import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { freePort, launch, temporaryFolder } from "../../../scripts/local/processes.mjs";
import { eventually } from "../eventually.ts";

export interface Pooler extends AsyncDisposable {
  readonly url: string;
}

/** True if PgBouncer is installed, or could be installed now. */
export function hasPooler(): boolean {
  if (isInstalled()) return true;
  if (process.getuid?.() === 0) {
    spawnSync("apt-get", ["install", "-y", "--no-install-recommends", "pgbouncer"]);
  }
  return isInstalled();
}

function isInstalled(): boolean {
  return spawnSync("pgbouncer", ["--version"]).status === 0;
}

/** Starts PgBouncer with two server connections, so that transactions surely share them. */
export async function startPooler(databaseUrl: string): Promise<Pooler> {
  const folder = temporaryFolder("farebox-test-pooler-");
  const port = await freePort();
  const { hostname, port: server, username, password, pathname } = new URL(databaseUrl);
  const target =
    `host=${hostname} port=${server} user=${username} ` +
    `password=${decodeURIComponent(password)}`;
  const lines = [
    "[databases]",
    `* = ${target}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    "default_pool_size = 2",
    "max_client_conn = 200",
  ];
  const file = join(folder.path, "pgbouncer.ini");
  writeFileSync(file, `${lines.join("\n")}\n`);
  for (const path of [folder.path, file]) chmodSync(path, 0o755);
  // PgBouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const logFile = join(folder.path, "pgbouncer.log");
  const command = ["pgbouncer", ...user, file];
  const child = launch({ name: "PgBouncer", command, logFile, cwd: folder.path });
  await eventually("PgBouncer listens", () => isOpen(port));
  return {
    url: `postgres://${username}@127.0.0.1:${port}${pathname}`,
    [Symbol.asyncDispose]: async () => {
      await child.stop();
      folder.remove();
    },
  };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
