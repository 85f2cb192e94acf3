#!/usr/bin/env node
// `npm run -s farebox -- <command>`: runs the command-line tool against the running stores, or one
// of the processes of Farebox.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { BUN_SETTINGS, NO_ENV_FILE } from "./bun-settings.mjs";
import {
  dataFolder,
  environment,
  fingerprint,
  homeFolder,
  PROJECT,
  readRuntime,
  secrets,
  whyNoneRuns,
} from "./local/home.mjs";
import { ensureBun, ensurePackages } from "./local/packages.mjs";
import { exitCodeOf, run } from "./local/processes.mjs";
import { namesProvider } from "./local/sandbox.mjs";

/**
 * Processes that run until they are stopped. Such processes read their settings only from the
 * environment.
 * @type {Record<string, string>}
 */
const PROCESSES = { api: "src/main.ts", worker: "workers/main.ts" };

main().catch((error) => {
  const message = error instanceof Error ? error.message : String(error);
  // Answers in the form of the tool's own refusals.
  if (process.argv.includes("--json")) {
    console.log(JSON.stringify({ error: { code: "config", message } }));
  }
  console.error(message);
  process.exitCode = 1;
});

async function main() {
  // Only the tool writes to stdout, because callers parse its output as JSON.
  await ensurePackages({ dev: false, progress: (line) => console.error(line) });
  const bun = ensureBun();
  const args = process.argv.slice(2);
  const { SESSION_SECRET, SESSION_SECRET_FILE } = process.env;
  const servesConsole = Boolean(SESSION_SECRET || SESSION_SECRET_FILE);
  if (args.join(" ") === "api" && servesConsole) await buildDashboard(bun);
  const child = spawnProgram(bun, args);
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("exit", (code, signal) => process.exit(exitCodeOf({ code, signal })));
}

/**
 * Builds the pages of the dashboard if they are missing or stale. An API serves without them.
 * @param {string} bun
 */
async function buildDashboard(bun) {
  // The output of the API is its log, so the build must not write to it.
  const stdio = /** @type {import("node:child_process").StdioOptions} */ (["ignore", 2, 2]);
  const script = join(PROJECT, "scripts/build-dashboard.ts");
  const code = await run([bun, NO_ENV_FILE, script], { cwd: callerFolder(), stdio });
  if (code !== 0) console.error("The dashboard could not be built: /dashboard answers 503.");
}

/**
 * @param {string} bun
 * @param {string[]} args
 */
function spawnProgram(bun, [name = "", ...rest]) {
  const cwd = callerFolder();
  if (name === "start") {
    const script = join(PROJECT, "scripts/start.mjs");
    return spawn(process.execPath, [script, ...rest], { cwd: PROJECT, stdio: "inherit" });
  }
  const file = Object.hasOwn(PROCESSES, name) ? PROCESSES[name] : undefined;
  if (file === undefined || rest.includes("--help")) {
    const args = name === "" ? [] : file === undefined ? [name, ...rest] : ["--help"];
    const script = join(PROJECT, "src/cli/main.ts");
    const env = environmentOf(args);
    return spawn(bun, [NO_ENV_FILE, script, ...args], { cwd, env, stdio: "inherit" });
  }
  if (rest.length > 0) {
    throw new Error(`'farebox ${name}' takes no arguments: its settings are environment variables`);
  }
  const env = { ...BUN_SETTINGS, ...process.env };
  return spawn(bun, [NO_ENV_FILE, join(PROJECT, file)], { cwd, env, stdio: "inherit" });
}

/** npm changes to the project's folder, but file names are relative to the caller's folder. */
function callerFolder() {
  return process.env.INIT_CWD || process.cwd();
}

/**
 * Returns the stores and secrets, from the environment or from the files of the running Farebox.
 * @param {string[]} args
 * @returns {NodeJS.ProcessEnv}
 */
function environmentOf(args) {
  const home = homeFolder();
  const runtime = readRuntime(home);
  const given = environment();
  // A quote is asked of any service, by whoever has an API key of it.
  if (args[0] === "quote") return given;
  const isSetup = args[0] === "setup";
  const REDIS_URL = given.REDIS_URL || runtime?.redis_url;
  const DATABASE_URL = given.DATABASE_URL || runtime?.database_url;
  if (!REDIS_URL || !DATABASE_URL) {
    if (args.length === 0 || args.includes("--help")) return given;
    // The setup makes the settings of an installation that never ran.
    if (isSetup) return { ...given, FAREBOX_HOME: home };
    throw new Error(whyNoneRuns(home));
  }
  const held = secrets(home, { make: false });
  if (runtime !== null && runtime.secrets_fingerprint !== fingerprint(held)) {
    throw new Error(
      "This Farebox was started with another KEY_PEPPER or IP_HASH_SECRET; set the same here.",
    );
  }
  const FAREBOX_DATA = dataFolder(home);
  // Browsers make passkeys for host names alone, and an operator's link asks for one. `npm start`
  // prints 127.0.0.1, because SDKs ask `localhost` over IPv6 first, where Farebox does not listen.
  const CONSOLE_URL = given.CONSOLE_URL || runtime?.base_url.replace("127.0.0.1", "localhost");
  const stores = { REDIS_URL, DATABASE_URL, CONSOLE_URL };
  // The setup must not take the keys of the sandbox for keys of the operator's.
  const payments = isSetup || namesProvider(given) ? {} : runtime?.payments;
  return { ...given, ...held, ...payments, FAREBOX_HOME: home, FAREBOX_DATA, ...stores };
}
