// Finds redis-server, or installs it. Valkey has the same interface and works too.

import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { basename, dirname, join } from "node:path";
import { runQuietly } from "./processes.mjs";

/** @typedef {{ server: string, checkAof: string, version: string }} RedisProgram */

const MAJOR_MIN = 7;

/** Commands of package managers that install Redis; `user` marks a manager that needs no root. */
const INSTALLERS = [
  {
    program: "apt-get",
    commands: [
      ["apt-get", "update"],
      ["apt-get", "install", "-y", "--no-install-recommends", "redis-server"],
    ],
  },
  { program: "dnf", commands: [["dnf", "install", "-y", "/usr/bin/redis-server"]] },
  { program: "apk", commands: [["apk", "add", "--no-cache", "redis"]] },
  { program: "pacman", commands: [["pacman", "-Sy", "--noconfirm", "valkey"]] },
  { program: "brew", commands: [["brew", "install", "redis"]], user: true },
];

/**
 * Returns the Redis of this machine; installs one if it is missing.
 * @param {(line: string) => void} progress
 * @returns {Promise<RedisProgram>}
 */
export async function ensureRedis(progress) {
  const found = findRedis() ?? (await installRedis(progress));
  if (isNewEnough(found)) return found;
  throw new Error(
    `${found.server} is version ${found.version}, but Farebox needs Redis ${MAJOR_MIN} or later ` +
      "(or Valkey). Install a later one, or set REDIS_URL.",
  );
}

/**
 * The first program that is new enough; otherwise the first.
 * @returns {RedisProgram | null}
 */
function findRedis() {
  /** @type {RedisProgram[]} */
  const found = [];
  for (const name of ["redis-server", "valkey-server"]) {
    const server = findProgram(name);
    const version = server && versionOf(server);
    if (!server || !version) continue;
    const checkName = basename(server).replace("server", "check-aof");
    const checkAof = findProgram(checkName, dirname(server));
    if (checkAof === null) throw new Error(`${server} has no ${checkName} beside it; install it.`);
    found.push({ server, checkAof, version });
  }
  return found.find(isNewEnough) ?? found[0] ?? null;
}

/** @param {RedisProgram} found */
function isNewEnough({ version }) {
  return Number(version.split(".")[0]) >= MAJOR_MIN;
}

/** @param {string} server */
function versionOf(server) {
  const answer = spawnSync(server, ["--version"], { encoding: "utf8" });
  return /\bv=(\d+\.\d+\.\d+)/.exec(answer.stdout ?? "")?.[1] ?? null;
}

/**
 * @param {string} name
 * @param {...string} first
 * @returns {string | null}
 */
function findProgram(name, ...first) {
  const usual = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
  for (const folder of [...first, ...(process.env.PATH ?? "").split(":"), ...usual]) {
    try {
      if (folder === "") continue;
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // This folder does not have it; the next folder may.
    }
  }
  return null;
}

/**
 * @param {(line: string) => void} progress
 * @returns {Promise<RedisProgram>}
 */
async function installRedis(progress) {
  const installer = INSTALLERS.find(({ program }) => findProgram(program) !== null);
  const isRoot = process.getuid?.() === 0;
  if (installer === undefined) {
    throw new Error("Farebox needs redis-server 7 or later. Install it, or set REDIS_URL.");
  }
  const byHand = installer.commands.map((c) => (installer.user ? "" : "sudo ") + c.join(" "));
  const hint = `Install it with:\n\n  ${byHand.join(" && ")}\n\nor set REDIS_URL.`;
  if (!isRoot && !installer.user) throw new Error(`Farebox needs redis-server. ${hint}`);
  for (const command of installer.commands) {
    progress(`Installing Redis: ${command.join(" ")}`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const code = await runQuietly(command, { env });
    if (code !== 0)
      throw new Error(`'${command.join(" ")}' failed with exit code ${code}. ${hint}`);
  }
  const found = findRedis();
  if (found === null) throw new Error(`No redis-server was found after its installation. ${hint}`);
  return found;
}
