// `npm test [-- <parts of file names, options of bun test>]`: the tests on stores of their own;
// `npm run test:all`: the slow suites too (see scripts/test-files.mjs).
//
// Files run in lanes, each file in a process and each lane with a Redis of its own; the longest
// start first. What failed is printed again at the end, and the last line is always the count. With
// CI set, files that failed run once more when all others are done: see `runAgain`.

import { spawn } from "node:child_process";
import { accessSync, constants, statfsSync } from "node:fs";
import { availableParallelism, freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { makeHome, PROJECT } from "./home.mjs";
import { ensureBun, ensurePackages } from "./packages.mjs";
import { exitCodeOf, temporaryFolder } from "./processes.mjs";
import { startRedis } from "./redis.mjs";
import { startStores } from "./services.mjs";
import { keepTimes, testFiles } from "./test-files.mjs";

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Count
 * @typedef {{ file: string, counted: Count, names: string[], output: string }} FailedFile
 * @typedef {{ failures: FailedFile[], unsteady: FailedFile[] }} Failures
 * @typedef {Count & Failures & { seconds: Map<string, number> }} Total
 * @typedef {{ exitCode: number, output: string }} Outcome
 * @typedef {{ bun: string, options: string[] }} Settings
 * @typedef {Settings & { redisUrl: string, databaseUrl: string, dataDirectory: string }} Lane
 */

/** Data files, built once and again when their sources change; `npm ci` removes the folder. */
const DATA = join(PROJECT, "node_modules", ".cache", "farebox", "data");
const LANES_MAX = 4;
/** A test that hangs ends; a busy machine is no reason to fail. */
const TIMEOUT_MS = 60_000;
/** The kernel's folder of files in memory, and what must be free of the memory to use it. */
const MEMORY_FOLDER = "/dev/shm";
const MEMORY_FREE_MIN = 4 * 1024 ** 3;
/** More files than this fail for a reason that they share. */
const AGAIN_MAX = 3;
/** Of a failed file's output, what is printed again at the end. */
const REPEATED_LINES = 120;

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
  report({ ...nothingYet(), failed: 1 });
});

async function main() {
  await ensurePackages({ dev: true, progress: say });
  const given = process.argv.slice(2);
  const all = given.includes("--all");
  const options = given.filter((argument) => argument.startsWith("-") && argument !== "--all");
  const words = given.filter((argument) => !argument.startsWith("-"));
  const files = testFiles({ words, all });
  if (files.length === 0) throw new Error(`No test file has ${words.join(" or ")} in its name.`);
  const left = words.length > 0 ? 0 : testFiles({ all: true }).length - files.length;
  // More than there are cores: many tests wait most of their time.
  const lanes = Math.min(files.length, LANES_MAX, availableParallelism() + 2);
  process.env.TMPDIR = folderForTests();
  const home = temporaryFolder("farebox-test-");
  try {
    await withLanes(home.path, { lanes, bun: ensureBun(), options }, async (opened) => {
      const total = nothingYet();
      await Promise.all(opened.map((lane) => runLane(lane, files, total)));
      const [lane] = opened;
      if (process.env.CI && lane !== undefined) await runAgain(lane, total);
      keepTimes(total.seconds, say);
      if (left > 0) say(`'npm run test:all' also runs the ${left} files of the slow suites`);
      report(total);
    });
  } finally {
    home.remove();
  }
}

/**
 * Where stores and tests keep their files: in memory where that is possible, unless TMPDIR says
 * otherwise. A test file has a database, which is a thousand files to make and to remove (D-332).
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

/** @returns {Total} */
function nothingYet() {
  const none = { passed: 0, failed: 0, skipped: 0 };
  return { ...none, failures: [], unsteady: [], seconds: new Map() };
}

/**
 * What these tests prove about crashes they prove on stores of their own, which are durable.
 * @param {string} home
 * @param {Settings & { lanes: number }} settings
 * @param {(lanes: Lane[]) => Promise<void>} use
 */
async function withLanes(home, { lanes, bun, options }, use) {
  makeHome(home);
  const stores = await startStores({ home, durable: false, progress: say });
  /** @type {import("./redis.mjs").Service[]} */
  const more = [];
  try {
    for (let lane = 1; lane < lanes; lane += 1) {
      const laneHome = join(home, `lane-${lane}`);
      makeHome(laneHome);
      more.push(await startRedis({ home: laneHome, progress: say }));
    }
    const urls = [stores.redisUrl, ...more.map((redis) => redis.url)];
    const same = { bun, options, databaseUrl: stores.databaseUrl, dataDirectory: DATA };
    // What is missing or stale of it is made while the first tests run that need none of it.
    const building = run(bun, ["scripts/build-data.ts"], { FAREBOX_DATA: DATA });
    await use(urls.map((redisUrl) => ({ ...same, redisUrl })));
    const built = await building;
    if (built.exitCode !== 0) throw new Error(`The data could not be built:\n${built.output}`);
  } finally {
    await Promise.all(more.map((redis) => redis.stop()));
    await stores.stop();
  }
}

/**
 * Takes files off the list until none is left.
 * @param {Lane} lane
 * @param {string[]} files
 * @param {Total} total
 */
async function runLane(lane, files, total) {
  for (let file = files.shift(); file !== undefined && !interrupted; file = files.shift()) {
    const startMs = performance.now();
    const outcome = await runFile(lane, file);
    total.seconds.set(file, (performance.now() - startMs) / 1_000);
    process.stdout.write(outcome.output);
    const counted = count(outcome);
    total.passed += counted.passed;
    total.failed += counted.failed;
    total.skipped += counted.skipped;
    if (counted.failed === 0) continue;
    const { output } = outcome;
    total.failures.push({ file, counted, names: failedNames(outcome), output });
  }
  if (interrupted) total.failed += 1;
}

/**
 * Runs failed files once more, one at a time: on a shared machine something else may have taken the
 * processors for seconds. A file that passes now does not fail the run, but it is named as unsteady
 * with what it printed, for it has a fault of its own.
 * @param {Lane} lane
 * @param {Total} total
 */
async function runAgain(lane, total) {
  if (total.failures.length > AGAIN_MAX) return;
  for (const failure of [...total.failures]) {
    if (interrupted) return;
    const outcome = await runFile(lane, failure.file);
    process.stdout.write(outcome.output);
    const counted = count(outcome);
    if (counted.failed > 0) continue;
    total.passed += counted.passed - failure.counted.passed;
    total.failed -= failure.counted.failed;
    total.skipped += counted.skipped - failure.counted.skipped;
    total.failures.splice(total.failures.indexOf(failure), 1);
    total.unsteady.push(failure);
  }
}

/**
 * @param {Lane} lane
 * @param {string} file
 */
function runFile({ bun, options, redisUrl, databaseUrl, dataDirectory }, file) {
  return run(bun, ["test", `--timeout=${TIMEOUT_MS}`, ...options, `./${file}`], {
    ...(process.stdout.isTTY ? { FORCE_COLOR: "1" } : {}),
    TEST_REDIS_URL: redisUrl,
    TEST_DATABASE_URL: databaseUrl,
    FAREBOX_DATA: dataDirectory,
  });
}

/**
 * @param {string} bun
 * @param {string[]} command
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Outcome>}
 */
function run(bun, command, env) {
  const child = spawn(bun, command, {
    cwd: PROJECT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ exitCode: 127, output: `${output}${error.message}\n` }));
    child.on("close", (code, signal) => {
      running.delete(child);
      resolve({ exitCode: exitCodeOf({ code, signal }), output });
    });
  });
}

/**
 * Reads Bun's summary. A file that failed without a failed test counts as one failure.
 * @param {Outcome} outcome
 * @returns {Count}
 */
function count({ exitCode, output }) {
  const lines = stripVTControlCharacters(output).split("\n");
  const end = lines.findLastIndex((line) => /^Ran \d+ tests? across /.test(line));
  const summary = lines.slice(Math.max(0, end - 8), Math.max(0, end));
  const found = (/** @type {string} */ word) => {
    const row = summary.map((line) => new RegExp(`^ *(\\d+) ${word}$`).exec(line)).find(Boolean);
    return Number(row?.[1] ?? 0);
  };
  const failed = found("fail");
  return {
    passed: found("pass"),
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: found("skip") + found("todo"),
  };
}

/**
 * The names of the tests that failed; Bun prints those of a long run twice.
 * @param {Outcome} outcome
 */
function failedNames({ output }) {
  const lines = stripVTControlCharacters(output).split("\n");
  const failed = lines.filter((line) => line.startsWith("(fail)"));
  return [...new Set(failed)].map((line) => line.slice("(fail) ".length));
}

/** @param {Total} total */
function report({ passed, failed, skipped, failures, unsteady }) {
  for (const failure of unsteady) tell("unsteady, passed when run again", failure);
  for (const failure of failures) tell("failed", failure);
  const nothing = passed === 0 && failed === 0;
  if (nothing) console.log("No test ran.");
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  process.exitCode = failed > 0 || nothing ? 1 : 0;
}

/**
 * @param {string} what
 * @param {FailedFile} failure
 */
function tell(what, { file, names, output }) {
  const lines = output.split("\n").filter((line) => !line.startsWith("(pass)"));
  console.log(lines.slice(-REPEATED_LINES).join("\n"));
  for (const name of names) console.log(`${what}: ${file}: ${name}`);
  if (names.length === 0) console.log(`${what}: ${file}`);
}

/** @param {string} line */
function say(line) {
  console.log(`- ${line}`);
}
