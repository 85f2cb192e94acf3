// `npm start`: from a fresh machine to a running Farebox with a key that works.

import { existsSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import {
  dataFolder,
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
} from "./home.mjs";
import { ensureBun, ensurePackages } from "./packages.mjs";
import { chooseMetricsPorts, choosePort } from "./ports.mjs";
import { exitCodeOf, lastWords, launch, sleep, stopLeftover } from "./processes.mjs";
import { startStores } from "./services.mjs";

/**
 * @typedef {import("./processes.mjs").Child} Child
 * @typedef {{ account: string, key: string }} Demo
 */

const USAGE = `Usage: npm start [-- --logs]

Starts Farebox with everything it needs. --logs (or FAREBOX_LOGS=1) shows the logs here.

  PORT           the port of the API; 8080, or the next free one
  METRICS_PORT   the port of the API's metrics; the worker has the next one
  FAREBOX_HOME   where the data is kept; .farebox
  REDIS_URL      a Redis 7 of your own (appendfsync always, noeviction), instead of a private one
  DATABASE_URL   a Postgres 18 of your own, instead of a private one`;

const READY_MS = 60_000;
const DRAIN_MS = 30_000;

const home = homeFolder();
const showLogs = process.argv.includes("--logs") || process.env.FAREBOX_LOGS === "1";

/** What to stop, in groups: the last group that was started is the first to be stopped. */
const groups = /** @type {Child[][]} */ ([]);
/** @type {Promise<import("./services.mjs").Stores> | null} */
let storesStarting = null;
let locked = false;
let stopping = false;

process.stdout.on("error", () => {});
process.stderr.on("error", () => {});
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(signal, () => void finish(0, "Stopping."));
}

if (process.argv.includes("--help")) {
  console.log(USAGE);
} else {
  main().catch((error) => finish(1, `\n${error instanceof Error ? error.message : error}`));
}

async function main() {
  makeHome(home);
  const owner = lockHome(home);
  if (owner !== null) return refuseSecond(owner);
  locked = true;
  await stopOldServers();
  await ensurePackages({ dev: false, progress: say });
  const bun = ensureBun();
  const { REDIS_URL: redisUrl = "", DATABASE_URL: databaseUrl = "" } = process.env;
  const port = await choosePort(say);
  const metricsPorts = await chooseMetricsPorts();
  const baseUrl = `http://127.0.0.1:${port}`;
  const kept = secrets(home, { make: true });
  if (!redisUrl || !databaseUrl) say("Starting the stores.");
  storesStarting = startStores({ home, redisUrl, databaseUrl, progress: say });
  const stores = await storesStarting;
  if (!watch(stores.children)) return;
  const env = {
    ...process.env,
    ...kept,
    // Bun's own bound of 256 would let one upstream that hangs stop all others.
    BUN_CONFIG_MAX_HTTP_REQUESTS: process.env.BUN_CONFIG_MAX_HTTP_REQUESTS ?? "20000",
    PORT: String(port),
    FAREBOX_HOME: home,
    FAREBOX_DATA: dataFolder(home),
    REDIS_URL: stores.redisUrl,
    DATABASE_URL: stores.databaseUrl,
  };
  say("Preparing the database and the demonstration account.");
  const [demo] = await Promise.all([setUp(bun, env, baseUrl), buildData(bun, env)]);
  if (stopping) return;
  const api = server(bun, "API", "src/main.ts", { ...env, METRICS_PORT: metricsPorts.api });
  const workerEnv = { ...env, METRICS_PORT: metricsPorts.worker };
  const worker = server(bun, "Worker", "workers/main.ts", workerEnv);
  writeJson(join(home, "servers.json"), [api.record, worker.record]);
  if (!watch([api, worker])) return;
  await untilReady(baseUrl, api, worker);
  if (stopping) return;
  writeRuntime(home, {
    base_url: baseUrl,
    redis_url: stores.redisUrl,
    database_url: stores.databaseUrl,
    secrets_fingerprint: fingerprint(kept),
  });
  welcome(baseUrl, demo);
}

/** @param {{ pid: number }} owner */
function refuseSecond(owner) {
  const runtime = readJson(join(home, "runtime.json"));
  const where = runtime ? `at ${runtime.base_url}` : "and is still starting";
  console.error(`Farebox is already running ${where} (process ${owner.pid}, ${shown(home)}).`);
  process.exitCode = 1;
}

/** The servers of a launcher that was killed may still be finishing their calls. */
async function stopOldServers() {
  for (const record of readJson(join(home, "servers.json")) ?? []) {
    if (await stopLeftover(record, "SIGTERM")) say("Stopped a server that an earlier run left.");
  }
}

/**
 * Migrates and makes the demonstration account once; scripts/setup.ts writes it to demo.json.
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
    command: [bun, "scripts/setup.ts"],
    cwd: PROJECT,
    env: { ...env, FAREBOX_DEMO_FILE, FAREBOX_BASE_URL: baseUrl },
    logFile: output,
  });
  groups.push([child]);
  const exit = await child.exited;
  const said = lastWords(output);
  // It prints the key, which belongs into no log.
  rmSync(output, { force: true });
  const demo = readJson(FAREBOX_DEMO_FILE);
  if (exit.code === 0 && demo?.key) return demo;
  throw new Error(`The database could not be prepared:\n${said}`);
}

/**
 * Builds what ships as data, where it is missing; it says so itself.
 * @param {string} bun
 * @param {NodeJS.ProcessEnv} env
 */
async function buildData(bun, env) {
  const command = [bun, "scripts/build-data.ts"];
  const child = launch({ name: "Data", command, cwd: PROJECT, env, logFile: null });
  groups.push([child]);
  const { code } = await child.exited;
  if (code !== 0 && !stopping) throw new Error("The data that ships could not be built.");
}

/**
 * @param {string} bun
 * @param {string} name
 * @param {string} script
 * @param {NodeJS.ProcessEnv} env
 */
function server(bun, name, script, env) {
  const log = showLogs ? null : logFile(home, name.toLowerCase());
  return launch({ name, command: [bun, script], cwd: PROJECT, env, logFile: log });
}

/**
 * Takes responsibility for children: they are stopped at the end, and the end comes with theirs.
 * @param {Child[]} children
 * @returns {boolean} false when everything is being stopped already
 */
function watch(children) {
  groups.push(children);
  for (const child of children) {
    child.exited.then((exit) => {
      const log = join(home, "logs", `${child.name.toLowerCase()}.log`);
      const words = existsSync(log) ? `\n\n${lastWords(log)}\n\n(${shown(log)})` : "";
      const how = exit.signal ?? `exit code ${exit.code}`;
      return finish(exitCodeOf(exit) || 1, `\n${child.name} ended by ${how}.${words}`);
    });
  }
  if (stopping) void stopGroups();
  return !stopping;
}

/**
 * @param {string} baseUrl
 * @param {...Child} children
 */
async function untilReady(baseUrl, ...children) {
  for (const endMs = Date.now() + READY_MS; Date.now() < endMs; await sleep(50)) {
    if (stopping || children.some((child) => child.exit() !== null)) return;
    const answer = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(
      () => null,
    );
    if (answer?.status === 200) return;
  }
  throw new Error(
    `${baseUrl}/readyz did not become ready within ${READY_MS / 1000} seconds.\n\n` +
      lastWords(join(home, "logs", "api.log")),
  );
}

/**
 * Ends everything, once: the servers first, so that they can settle what is under way, then the
 * stores. Later calls change nothing.
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

/**
 * @param {string} baseUrl
 * @param {Demo} demo
 */
function welcome(baseUrl, { key }) {
  const body =
    '{"model":"farebox-guide","messages":[{"role":"user","content":"What is Farebox?"}]}';
  const headers = `-H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json'`;
  const logs = showLogs ? "" : `\n  Logs       ${shown(join(home, "logs"))}/api.log, worker.log`;
  console.log(`
Farebox is running. Ctrl-C stops it; the next start finds its data again.

  Base URL   ${baseUrl}
  Key        ${key}
  Data       ${shown(home)}${logs}

Try it:

curl ${baseUrl}/v1/chat/completions ${headers} -d '${body}'

Or with the OpenAI SDK (npm install openai), in a file ask.mjs:

import OpenAI from "openai";
const client = new OpenAI({ baseURL: "${baseUrl}/v1", apiKey: "${key}" });
const messages = [{ role: "user", content: "How is a call paid for?" }];
const reply = await client.chat.completions.create({ model: "farebox-guide", messages });
console.log(reply.choices[0].message.content, reply.svc);
`);
}

/** @param {string} line */
function say(line) {
  console.log(`- ${line}`);
}

/** @param {string} path */
function shown(path) {
  const short = relative(process.cwd(), path);
  return short === "" || short.startsWith("..") ? path : short;
}
