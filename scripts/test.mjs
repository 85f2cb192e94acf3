// `npm test [-- <parts of file names, options of bun test>]`: the tests on stores of their own;
// `npm run test:all`: the slow suites too (see scripts/test-files.mjs).
//
// Bun runs the files in a few processes, each with a Redis of its own. The files of a process share
// its modules, which are loaded and compiled once: a file must leave nothing behind (D-331). The
// last line is always the count. With CI set, files that failed run once more: see `runAgain`.

import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { availableParallelism, freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { BUN_SETTINGS } from "./bun-settings.mjs";
import { makeHome, PROJECT } from "./local/home.mjs";
import { ensureBun, ensurePackages } from "./local/packages.mjs";
import { exitCodeOf, temporaryFolder } from "./local/processes.mjs";
import { startRedis } from "./local/redis.mjs";
import { startStores } from "./local/services.mjs";
import { parseTestArguments, testFiles } from "./test-files.mjs";
import { errorsIn, readCounts } from "./test-report.mjs";

/**
 * @typedef {import("./test-report.mjs").Count} Count
 * @typedef {Map<string, Count>} Counts of each file
 * @typedef {{ counts: Counts, errors: number }} Outcome `errors`: those outside of all tests
 * @typedef {{ bun: string, home: string, options: string[], env: NodeJS.ProcessEnv }} Setting
 */

/** Data files, built once and again when their sources change; `npm ci` removes the folder. */
const DATA = join(PROJECT, "node_modules", ".cache", "farebox", "data");
/** The duration of each file: Bun starts the longest first. `--update-timings` renews it. */
const TIMES = join(PROJECT, "test", "times.json");
const PROCESSES_MAX = 4;
/** A test that hangs ends; a busy machine is no reason to fail. */
const TIMEOUT_MS = 180_000;
/** The kernel's folder of files in memory, and the free memory that using it requires. */
const MEMORY_FOLDER = "/dev/shm";
const MEMORY_FREE_MIN = 4 * 1024 ** 3;
/** The most characters of the summary at the end of Bun's output. */
const SUMMARY_LENGTH = 2_000;
/** If more files than this fail, they share the reason, and none is run again. */
const AGAIN_MAX = 3;

let interrupted = false;
/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(signal, () => {
    interrupted = true;
    for (const child of running) child.kill("SIGTERM");
  });
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  console.log("0 passed, 1 failed");
  process.exitCode = 1;
});

async function main() {
  const { options, words, all } = parseTestArguments(process.argv.slice(2));
  await ensurePackages({ dev: true, progress: say });
  const files = testFiles({ words, all });
  if (files.length === 0) throw new Error(`No test file has ${words.join(" or ")} in its name.`);
  if (words.length === 0) options.push("--dots");
  const left = words.length > 0 ? 0 : testFiles({ all: true }).length - files.length;
  // More processes than cores: many tests wait most of their time.
  const processes = Math.min(files.length, PROCESSES_MAX, availableParallelism() + 2);
  process.env.TMPDIR = folderForTests();
  const home = temporaryFolder("farebox-test-");
  try {
    await withStores(home.path, processes, async (env) => {
      const setting = { bun: ensureBun(), home: home.path, options, env };
      const outcome = await runFiles(setting, files, processes);
      if (process.env.CI) await runAgain(setting, outcome.counts);
      if (left > 0) say(`'npm run test:all' also runs the ${left} files of the slow suites`);
      report(outcome);
    });
  } finally {
    home.remove();
  }
}

/**
 * Returns the folder of stores and tests: in memory if that is possible, unless TMPDIR names
 * another. A test file has a database, which is a thousand files to make and to remove (D-331).
 */
function folderForTests() {
  if (process.env.TMPDIR || freemem() < MEMORY_FREE_MIN) return tmpdir();
  try {
    accessSync(MEMORY_FOLDER, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return bavail * bsize < MEMORY_FREE_MIN ? tmpdir() : MEMORY_FOLDER;
  } catch {
    // Only Linux has this folder.
    return tmpdir();
  }
}

/**
 * Starts Postgres and one Redis for each process. Tests of crashes start their own stores, which
 * are durable.
 * @param {string} home
 * @param {number} processes
 * @param {(env: NodeJS.ProcessEnv) => Promise<void>} use
 */
async function withStores(home, processes, use) {
  makeHome(home);
  const stores = await startStores({ home, durable: false, progress: say });
  /** @type {import("./local/redis.mjs").Service[]} */
  const more = [];
  try {
    while (more.length < processes - 1) {
      const own = join(home, `redis-${more.length}`);
      makeHome(own);
      more.push(await startRedis({ home: own, progress: say }));
    }
    // Missing or stale data files are built while the first tests run, which need none of them.
    const building = run(ensureBun(), ["scripts/build-data.ts"], { env: { FAREBOX_DATA: DATA } });
    await use({
      TEST_REDIS_URLS: [stores.redisPortUrl, ...more.map(({ url }) => url)].join(" "),
      TEST_DATABASE_URL: stores.databaseUrl,
      FAREBOX_DATA: DATA,
    });
    if ((await building) !== 0) throw new Error("The data could not be built");
  } finally {
    await Promise.all(more.map((redis) => redis.stop()));
    await stores.stop();
  }
}

/**
 * Runs the files. A file whose tests could not be read, or that has none, counts as one failure.
 * @param {Setting} setting
 * @param {readonly string[]} files
 * @param {number} processes
 * @returns {Promise<Outcome>}
 */
async function runFiles({ bun, home, options, env }, files, processes) {
  const results = join(home, "results.xml");
  rmSync(results, { force: true });
  let words = "";
  const heard = (/** @type {string} */ text) => {
    words = (words + text).slice(-SUMMARY_LENGTH);
  };
  const exitCode = await run(
    bun,
    [
      "test",
      `--parallel=${processes}`,
      "--no-isolate",
      `--timeout=${TIMEOUT_MS}`,
      `--timings=${TIMES}`,
      "--reporter=junit",
      `--reporter-outfile=${results}`,
      ...options,
      ...files.map((file) => `./${file}`),
    ],
    { env, heard },
  );
  if (!existsSync(results)) throw new Error("The tests did not run to their end");
  const counts = readCounts(readFileSync(results, "utf8"));
  if (exitCode !== 0) {
    for (const file of files) {
      if (!counts.has(file)) counts.set(file, { passed: 0, failed: 1, skipped: 0 });
    }
  }
  return { counts, errors: errorsIn(words) };
}

/**
 * Runs failed files once more, each in a process of its own: on a shared machine another program
 * may have taken the processors for seconds. A file that passes now does not fail the run, but it
 * is named as unsteady, because it has a fault.
 * @param {Setting} setting
 * @param {Counts} counts
 */
async function runAgain(setting, counts) {
  const failed = failedFiles(counts);
  if (failed.length > AGAIN_MAX) return;
  for (const file of failed) {
    if (interrupted) return;
    const { counts: of, errors } = await runFiles(setting, [file], 1);
    const again = of.get(file);
    if (again === undefined || again.failed > 0 || errors > 0) continue;
    counts.set(file, again);
    console.log(`unsteady, passed when run again: ${file}`);
  }
}

/** @param {Counts} counts */
function failedFiles(counts) {
  return [...counts].filter(([, { failed }]) => failed > 0).map(([file]) => file);
}

/** @param {Outcome} outcome */
function report({ counts, errors }) {
  for (const file of failedFiles(counts)) console.log(`failed: ${file}`);
  const sum = (/** @type {keyof Count} */ kind) =>
    [...counts.values()].reduce((total, count) => total + count[kind], 0);
  const [passed, skipped] = [sum("passed"), sum("skipped")];
  if (errors > 0) console.log("failed: a file of tests by an error outside of its tests");
  const failed = sum("failed") + errors + (interrupted ? 1 : 0);
  const nothing = passed === 0 && failed === 0;
  if (nothing) console.log("No test ran.");
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  process.exitCode = failed > 0 || nothing ? 1 : 0;
}

/**
 * @param {string} bun
 * @param {string[]} command
 * @param {{ env: NodeJS.ProcessEnv, heard?: (text: string) => void }} options `heard` gets all that
 *   the command writes to its standard error, which appears here too
 * @returns {Promise<number>} its exit code
 */
function run(bun, command, { env, heard }) {
  const colors = heard !== undefined && process.stderr.isTTY ? { FORCE_COLOR: "1" } : {};
  const child = spawn(bun, command, {
    cwd: PROJECT,
    env: { ...process.env, ...BUN_SETTINGS, ...colors, ...env },
    stdio: ["ignore", "inherit", heard === undefined ? "inherit" : "pipe"],
  });
  child.stderr?.on("data", (chunk) => {
    process.stderr.write(chunk);
    heard?.(String(chunk));
  });
  running.add(child);
  return new Promise((resolve) => {
    child.on("error", (error) => {
      console.error(error.message);
      resolve(127);
    });
    child.on("close", (code, signal) => {
      running.delete(child);
      resolve(exitCodeOf({ code, signal }));
    });
  });
}

/** @param {string} line */
function say(line) {
  console.log(`- ${line}`);
}
