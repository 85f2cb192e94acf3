// FAREBOX_HOME: where an installation keeps its data, and the small files that describe it.
//
//   redis/ postgres/   stores          redis.json postgres.json   port, password, process
//   data/              data files      secrets.json               secrets; must never be lost
//   logs/              output          demo.json                  the first key
//   sandbox.json       payments of the sandbox
//   settings.env       variables that `farebox setup` was told
//   runtime.json servers.json lock.json redis.sock   while it runs

import { createHash, randomBytes } from "node:crypto";
import {
  accessSync,
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bornOf, isAlive } from "./processes.mjs";

/**
 * @typedef {object} Runtime
 * @property {number} pid
 * @property {string} born
 * @property {string} base_url
 * @property {string} redis_url
 * @property {string} database_url
 * @property {string} secrets_fingerprint
 * @property {Record<string, string>} payments the settings of the sandbox, where it runs
 *
 * @typedef {{ KEY_PEPPER: string, IP_HASH_SECRET: string, SESSION_SECRET?: string }} Secrets
 */

/** The limit of attempts: in each, other processes have taken and left the lock meanwhile. */
const LOCK_ATTEMPTS_MAX = 100;

/** The folder of the project. */
export const PROJECT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const RESTORE =
  "Restore the file from a backup, or set KEY_PEPPER and IP_HASH_SECRET to the values it had. " +
  "With new secrets no API key that exists would be valid any more. To begin anew without the " +
  "data, move the whole folder away.";

/** The home that the environment names, or `.farebox` in the project. */
export function homeFolder() {
  return resolve(PROJECT, process.env.FAREBOX_HOME || ".farebox");
}

/**
 * Returns the folder of data files: the folder that the environment names, or one in the home.
 * @param {string} home
 */
export function dataFolder(home) {
  return resolve(process.env.FAREBOX_DATA || join(home, "data"));
}

const STORE_SETTINGS = ["REDIS_URL", "DATABASE_URL"];
const FROM_FILES = [...STORE_SETTINGS, "KEY_PEPPER", "IP_HASH_SECRET", "SESSION_SECRET"];

/** A line as `farebox setup` writes it. */
const SETTING = /^([A-Za-z_]\w*)='([^']*)'$/gm;

/**
 * The variables that `farebox setup` wrote into the home (D-190).
 * @param {string} home
 * @returns {Record<string, string>}
 */
function settingsOf(home) {
  const file = join(home, "settings.env");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return Object.fromEntries([...text.matchAll(SETTING)].map(([, name, value]) => [name, value]));
}

/**
 * The environment, and below it the settings of the home, with NAME read from the file that
 * NAME_FILE names, as src/settings/environment.ts does. If both are set in the environment, the
 * servers refuse to start and say so.
 * @returns {NodeJS.ProcessEnv}
 */
export function environment() {
  const given = Object.entries(process.env).filter(([, value]) => Boolean(value));
  const env = /** @type {NodeJS.ProcessEnv} */ (Object.fromEntries(given));
  for (const [name, value] of Object.entries(settingsOf(homeFolder()))) {
    if (!env[name] && !env[`${name}_FILE`]) env[name] = value;
  }
  for (const name of FROM_FILES) {
    const file = env[`${name}_FILE`];
    if (!file || env[name]) continue;
    env[name] = readFileSync(file, "utf8").replace(/^\ufeff|\r?\n$/g, "");
    delete env[`${name}_FILE`];
  }
  return env;
}

/**
 * Creates the home and its log folder. Other users cannot read them.
 * @param {string} home
 */
export function makeHome(home) {
  mkdirSync(join(home, "logs"), { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
}

/**
 * @param {string} file
 * @returns {any} null when the file is missing or is no JSON
 */
export function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}

/**
 * Writes a file atomically; only its owner can read it.
 * @param {string} file
 * @param {unknown} value
 */
export function writeJson(file, value) {
  const draft = `${file}.${process.pid}.tmp`;
  const handle = openSync(draft, "w", 0o600);
  writeFileSync(handle, `${JSON.stringify(value, null, 2)}\n`);
  fsyncSync(handle);
  closeSync(handle);
  renameSync(draft, file);
}

/**
 * The secrets of an installation as environment variables; those of the environment take
 * precedence. New secrets are made only for a home without data: with another pepper every existing
 * API key would stop working. A session secret is added to any home: with a new one, people only
 * sign in again.
 * @param {string} home
 * @param {{ make: boolean }} options whether to make secrets that are missing
 * @returns {Secrets}
 */
export function secrets(home, { make }) {
  const { KEY_PEPPER, IP_HASH_SECRET, SESSION_SECRET } = environment();
  const file = join(home, "secrets.json");
  const isGiven = KEY_PEPPER && IP_HASH_SECRET;
  if (!existsSync(file) && !isGiven) {
    if (!make || hasData(home)) throw new Error(missingSecrets(home, file));
    writeJson(file, { key_pepper: secret(), ip_hash_secret: secret() });
  }
  const stored = readJson(file);
  if (!isGiven && !(isText(stored?.key_pepper) && isText(stored?.ip_hash_secret))) {
    throw new Error(`${file} cannot be read, or lacks one of its two secrets.\n${RESTORE}`);
  }
  if (make && !SESSION_SECRET && !isText(stored?.session_secret)) {
    writeJson(file, { ...stored, session_secret: secret() });
    return secrets(home, { make: false });
  }
  const ofSessions = SESSION_SECRET || stored?.session_secret;
  return {
    KEY_PEPPER: KEY_PEPPER || stored.key_pepper,
    IP_HASH_SECRET: IP_HASH_SECRET || stored.ip_hash_secret,
    ...(ofSessions && { SESSION_SECRET: ofSessions }),
  };
}

/** @param {unknown} value */
function isText(value) {
  return typeof value === "string";
}

/**
 * @param {string} home
 * @param {string} file
 */
function missingSecrets(home, file) {
  if (!hasData(home)) return `${file} is missing: set KEY_PEPPER and IP_HASH_SECRET.`;
  return `${file} is missing, and ${home} has data that depends on it.\n${RESTORE}`;
}

/**
 * True if an earlier start created a store here.
 * @param {string} home
 */
function hasData(home) {
  return ["postgres", "redis"].some((store) => existsSync(join(home, store)));
}

/**
 * Identifies the secrets without revealing them, so that two programs can compare theirs.
 * @param {Secrets} held
 */
export function fingerprint(held) {
  const both = `${held.KEY_PEPPER}/${held.IP_HASH_SECRET}`;
  return createHash("sha256").update(both).digest("hex").slice(0, 16);
}

/** Thirty-two random bytes in hex. */
export function secret() {
  return randomBytes(32).toString("hex");
}

/**
 * Returns the file for a child's output.
 * @param {string} home
 * @param {string} name
 */
export function logFile(home, name) {
  return join(home, "logs", `${name}.log`);
}

/**
 * Locks the home for this process, or returns the running process that has locked it.
 * @param {string} home
 * @returns {{ pid: number } | null} the owner, or null when it is now ours
 */
export function lockHome(home) {
  const file = join(home, "lock.json");
  const draft = `${file}.${process.pid}.tmp`;
  writeJson(draft, { pid: process.pid, born: bornOf(process.pid) });
  try {
    return takeLock(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Takes over the lock of a process that is gone. Several processes may find that lock; only the one
 * with the lock of its removal removes it: another process could remove the lock that the first one
 * has just taken.
 * @param {string} draft
 * @param {string} file
 * @returns {{ pid: number } | null}
 */
function takeLock(draft, file) {
  const removal = `${file}.removal`;
  for (let attempt = 0; attempt < LOCK_ATTEMPTS_MAX; attempt += 1) {
    if (linked(draft, file)) return null;
    const owner = ownerOf(file);
    if (owner === "nobody") continue;
    if (owner !== "gone") return owner.pid === process.pid ? null : owner;
    const remover = takeLock(draft, removal);
    if (remover !== null) return remover;
    if (ownerOf(file) === "gone") rmSync(file, { force: true });
    rmSync(removal, { force: true });
  }
  throw new Error(`${file} cannot be taken; remove it if no Farebox runs.`);
}

/**
 * Returns the process that owns a lock, "nobody" if the lock's file is missing, and "gone" if the
 * process no longer runs or the file names none. Any process may take a missing lock; a file whose
 * process is gone stays until somebody removes the file. Reads the file without a check whether it
 * exists, because the file could be removed between the two steps.
 * @param {string} file
 * @returns {{ pid: number } | "gone" | "nobody"}
 */
function ownerOf(file) {
  try {
    const owner = JSON.parse(readFileSync(file, "utf8"));
    return isAlive(owner) ? owner : "gone";
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT" ? "nobody" : "gone";
  }
}

/**
 * A hard link appears together with its content, and only one of two processes can create it.
 * @param {string} from
 * @param {string} to
 */
function linked(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "EEXIST") return false;
    throw error;
  }
}

/**
 * @param {string} home
 */
export function unlockHome(home) {
  for (const name of ["runtime.json", "servers.json", "lock.json"]) {
    rmSync(join(home, name), { force: true });
  }
}

/**
 * @param {string} home
 * @param {Omit<Runtime, "pid" | "born">} facts
 */
export function writeRuntime(home, facts) {
  writeJson(join(home, "runtime.json"), {
    ...facts,
    pid: process.pid,
    born: bornOf(process.pid),
  });
}

/**
 * Reads the file that the running Farebox of this home has written; null if none runs.
 * @param {string} home
 * @returns {Runtime | null}
 */
export function readRuntime(home) {
  const runtime = readJson(join(home, "runtime.json"));
  return isAlive({ ...runtime }) ? runtime : null;
}

/**
 * Says why `readRuntime` finds no running Farebox. A home of another user looks empty.
 * @param {string} home
 */
export function whyNoneRuns(home) {
  try {
    accessSync(join(home, "runtime.json"));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "EACCES") {
      return `${home} belongs to another user: run this as the one who started Farebox.`;
    }
  }
  return (
    `No Farebox runs with its data in ${home}. Start it with 'npm start', set FAREBOX_HOME to ` +
    "the folder of the one that runs, or set REDIS_URL and DATABASE_URL."
  );
}
