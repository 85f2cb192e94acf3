// `npm start`: from a fresh machine to a running Farebox with a key that works. Plain Node runs
// it (D-601).

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BUN_SETTINGS, NO_ENV_FILE } from "./bun-settings.mjs";
import { consoleSettings } from "./local/console.mjs";
import {
  dataFolder,
  environment,
  fingerprint,
  homeFolder,
  lockHome,
  logFile,
  makeHome,
  PROJECT,
  readJson,
  secrets,
  unlockHome,
  writeJson,
  writeRuntime,
} from "./local/home.mjs";
import { keepLogsSmall } from "./local/logs.mjs";
import { ensureBun, ensurePackages } from "./local/packages.mjs";
import { chooseMetricsPorts, choosePort, releasePorts } from "./local/ports.mjs";
import { exitCodeOf, lastWords, launch, stopLeftover } from "./local/processes.mjs";
import { untilReady } from "./local/ready.mjs";
import { planSandbox } from "./local/sandbox.mjs";
import { startStores } from "./local/services.mjs";
import { aborted, supervise } from "./local/supervisor.mjs";
import { shown, USAGE, welcome, welcomeStores } from "./local/welcome.mjs";

/**
 * @typedef {import("./local/processes.mjs").Child} Child
 * @typedef {import("./local/processes.mjs").Exit} Exit
 * @typedef {import("./local/sandbox.mjs").Sandbox} Sandbox
 * @typedef {import("./local/supervisor.mjs").Supervised} Supervised
 * @typedef {{ account: string, key: string, sign_in_link: string | null }} Demo
 */

const DRAIN_MS = 30_000;

const home = homeFolder();
const args = process.argv.slice(2);
const unknown = args.find((arg) => !["--logs", "--stores", "--help"].includes(arg));
/** True if only the stores run, for commands that need all other processes stopped. */
const storesOnly = args.includes("--stores");
const showLogs = args.includes("--logs") || process.env.FAREBOX_LOGS === "1";

/** The processes to stop, in groups: the group that was started last is stopped first. */
const groups = /** @type {Pick<Child, "stop">[][]} */ ([]);
/** @type {Promise<import("./local/services.mjs").Stores> | null} */
let storesStarting = null;
let locked = false;
/** True once everything has run: from then on, a process that dies is started again. */
let ready = false;
let stopping = false;

process.stdout.on("error", () => {});
process.stderr.on("error", () => {});
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(signal, () => void finish(0, "Stopping."));
}

if (args.includes("--help")) {
  console.log(USAGE);
} else if (unknown !== undefined) {
  console.error(`Unknown argument '${unknown}'\n\n${USAGE}`);
  process.exitCode = 2;
} else {
  main().catch((error) => finish(1, `\n${error instanceof Error ? error.message : error}`));
}

async function main() {
  makeHome(home);
  const owner = lockHome(home);
  if (owner !== null) return refuseSecond(owner);
  locked = true;
  if (existsSync(join(PROJECT, ".env"))) say(".env is not read: set its variables yourself.");
  keepLogsSmall(join(home, "logs"), say);
  await stopOldServers();
  await ensurePackages({ dev: false, progress: say });
  const bun = ensureBun();
  const given = environment();
  const { REDIS_URL: redisUrl = "", DATABASE_URL: databaseUrl = "" } = given;
  const port = await choosePort(say);
  const metricsPorts = await chooseMetricsPorts();
  const baseUrl = `http://127.0.0.1:${port}`;
  const kept = secrets(home, { make: true });
  const sandbox = await planSandbox({ home, baseUrl, port, given });
  if (!redisUrl || !databaseUrl) say("Starting the stores.");
  storesStarting = startStores({ home, redisUrl, databaseUrl, progress: say });
  const stores = await storesStarting;
  const supervised = stores.started.map(({ restart, ...store }) => {
    return keepRunning({ ...store, start: restart });
  });
  if (!take(supervised)) return;
  const env = {
    ...BUN_SETTINGS,
    ...given,
    ...kept,
    ...consoleSettings(given, kept),
    ...sandbox?.env,
    // Ctrl-C should not take a minute.
    DRAIN_SECONDS: given.DRAIN_SECONDS ?? "20",
    PORT: String(port),
    PORT_SHARED: given.PORT_SHARED ?? "false",
    FAREBOX_HOME: home,
    FAREBOX_DATA: dataFolder(home),
    REDIS_URL: stores.redisUrl,
    DATABASE_URL: stores.databaseUrl,
  };
  if (storesOnly) {
    if (!take(await startServers({ bun, env, metricsPorts, sandbox }, supervised))) return;
    runs({ baseUrl, stores, kept, sandbox });
    return welcomeStores(home);
  }
  say("Preparing the database and the demonstration account.");
  const [demo] = await Promise.all([setUp(bun, env, baseUrl), buildData(bun, env)]);
  if (stopping) return;
  const servers = await startServers({ bun, env, metricsPorts, sandbox }, supervised);
  if (!take(servers)) return;
  await untilReady(baseUrl, { home, isStopping: () => stopping });
  if (stopping) return;
  runs({ baseUrl, stores, kept, sandbox });
  welcome({ baseUrl, home, showLogs, demo, env, sandbox: sandbox?.url ?? null });
}

/**
 * From now on a process that dies is started again, and commands find the stores.
 * @param {{ baseUrl: string, stores: import("./local/services.mjs").Stores,
 *   kept: import("./local/home.mjs").Secrets, sandbox: Sandbox | null }} running
 */
function runs({ baseUrl, stores, kept, sandbox }) {
  ready = true;
  writeRuntime(home, {
    base_url: baseUrl,
    redis_url: stores.redisUrl,
    database_url: stores.databaseUrl,
    secrets_fingerprint: fingerprint(kept),
    payments: sandbox?.env ?? {},
  });
}

/** @param {{ pid: number }} owner */
function refuseSecond(owner) {
  const runtime = readJson(join(home, "runtime.json"));
  const where = runtime ? `at ${runtime.base_url}` : "and is still starting";
  console.error(`Farebox is already running ${where} (process ${owner.pid}, ${shown(home)}).`);
  process.exitCode = 1;
}

/** Stops servers whose launcher was killed; they may still be finishing their calls. */
async function stopOldServers() {
  for (const record of readJson(join(home, "servers.json")) ?? []) {
    if (await stopLeftover(record, "SIGTERM")) say("Stopped a server that an earlier run left.");
  }
}

/**
 * Migrates, and creates the demonstration account once; scripts/setup.ts writes it to demo.json.
 * @param {string} bun
 * @param {NodeJS.ProcessEnv} env
 * @param {string} baseUrl
 * @returns {Promise<Demo>}
 */
async function setUp(bun, env, baseUrl) {
  const FAREBOX_DEMO_FILE = join(home, "demo.json");
  const output = join(home, "setup.out");
  const child = launch({
    name: "Setup",
    command: [bun, NO_ENV_FILE, "scripts/setup.ts"],
    cwd: PROJECT,
    env: { ...env, FAREBOX_DEMO_FILE, FAREBOX_BASE_URL: baseUrl },
    logFile: output,
  });
  groups.push([child]);
  const { code } = await child.exited;
  const said = lastWords(output);
  rmSync(output, { force: true });
  const demo = readJson(FAREBOX_DEMO_FILE);
  if (code !== 0 || !demo?.key) throw new Error(`The database could not be prepared:\n${said}`);
  if (said !== "") say(said);
  return demo;
}

/**
 * Builds the data files and the dashboard if they are missing, and prints the progress.
 * @param {string} bun
 * @param {NodeJS.ProcessEnv} env
 */
async function buildData(bun, env) {
  const command = [bun, NO_ENV_FILE, "scripts/build-data.ts"];
  const child = launch({ name: "Data", command, cwd: PROJECT, env, logFile: null });
  groups.push([child]);
  const { code } = await child.exited;
  if (code !== 0 && !stopping) throw new Error("The data that ships could not be built.");
}

/**
 * @param {{ bun: string, env: NodeJS.ProcessEnv, sandbox: Sandbox | null,
 *   metricsPorts: { api: string | undefined, worker: string | undefined } }} settings
 * @param {Supervised[]} stores
 */
async function startServers({ bun, env, metricsPorts, sandbox }, stores) {
  await releasePorts();
  /** @type {Map<string, Child>} */
  const children = new Map();
  /**
   * @param {string} name
   * @param {string} script
   * @param {Record<string, string | undefined>} own
   */
  const start = (name, script, own) => {
    const log = showLogs ? null : logFile(home, name.toLowerCase());
    const command = [bun, NO_ENV_FILE, script];
    const child = launch({
      name,
      command,
      cwd: PROJECT,
      logFile: log,
      env: { ...env, ...own },
    });
    children.set(name, child);
    const records = [...children.values()].map(({ record }) => record);
    writeJson(join(home, "servers.json"), records);
    return child;
  };
  /** @type {[name: string, script: string, own: NodeJS.ProcessEnv][]} */
  const servers = storesOnly
    ? []
    : [
        ["API", "src/main.ts", { METRICS_PORT: metricsPorts.api }],
        ["Worker", "workers/main.ts", { METRICS_PORT: metricsPorts.worker }],
      ];
  if (sandbox !== null) servers.push(["Sandbox", "scripts/local/sandbox.ts", sandbox.own]);
  return servers.map(([name, script, own]) =>
    keepRunning({
      name,
      child: start(name, script, own),
      // A server that cannot reach a store when it starts would end at once and count as a death.
      start: async (signal) => {
        await Promise.race([Promise.all(stores.map((store) => store.running())), aborted(signal)]);
        if (signal.aborted) throw new Error("everything is being stopped");
        return start(name, script, own);
      },
    }),
  );
}

/**
 * @param {Pick<import("./local/supervisor.mjs").SupervisorOptions, "name" | "child" | "start">} process
 */
function keepRunning(process) {
  return supervise({ ...process, say, mayRestart: () => ready, giveUp });
}

/**
 * @param {Exit | null} exit
 * @param {string} why
 */
function giveUp(exit, why) {
  const name = why.split(" ")[0]?.toLowerCase();
  const log = join(home, "logs", `${name}.log`);
  const words = existsSync(log) ? `\n\n${lastWords(log)}\n\n(${shown(log)})` : "";
  return void finish((exit && exitCodeOf(exit)) || 1, `\n${why}${words}`);
}

/**
 * Remembers the started processes, so that they are stopped at the end.
 * @param {Supervised[]} started
 * @returns {boolean} false when everything is being stopped already
 */
function take(started) {
  groups.push(started);
  if (stopping) void stopGroups();
  return !stopping;
}

/**
 * Stops everything, once: first the servers, so that they can settle open calls, then the stores.
 * Later calls do nothing.
 * @param {number} exitCode
 * @param {string} message
 */
async function finish(exitCode, message) {
  if (stopping) return;
  stopping = true;
  (exitCode === 0 ? console.log : console.error)(message);
  await stopGroups();
  await storesStarting?.then((stores) => stores.stop()).catch(() => {});
  if (locked) unlockHome(home);
  process.exit(exitCode);
}

async function stopGroups() {
  while (groups.length > 0) {
    await Promise.all((groups.pop() ?? []).map((child) => child.stop(DRAIN_MS)));
  }
}

/** @param {string} line */
function say(line) {
  console.log(`- ${line}`);
}
