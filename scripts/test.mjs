// `npm test [-- <arguments of bun test>]`: the test suite on a Redis and a Postgres of its own.
//
// The suites below test/long run only with FAREBOX_LONG=1. The last line is always the count.

import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { makeHome, PROJECT } from "./home.mjs";
import { ensureBun, ensurePackages } from "./packages.mjs";
import { exitCodeOf, temporaryFolder } from "./processes.mjs";
import { startStores } from "./services.mjs";

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Count
 * @typedef {{ exitCode: number, output: string }} Outcome
 */

/** How much of the end of the output is kept to find the summary in. */
const TAIL_CHARACTERS = 100_000;

let interrupted = false;
/** @type {import("node:child_process").ChildProcess | null} */
let tests = null;

for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(signal, () => {
    interrupted = true;
    tests?.kill("SIGTERM");
  });
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  report({ passed: 0, failed: 1, skipped: 0 }, 1);
});

async function main() {
  await ensurePackages({ dev: true, progress: say });
  const bun = ensureBun();
  const home = temporaryFolder("farebox-test-");
  try {
    makeHome(home.path);
    // What these tests prove about crashes they prove on stores of their own, which are durable.
    const stores = await startStores({ home: home.path, durable: false, progress: say });
    try {
      const outcome = await runTests(bun, stores);
      report(count(outcome), outcome.exitCode);
    } finally {
      await stores.stop();
    }
  } finally {
    home.remove();
  }
}

/**
 * @param {string} bun
 * @param {import("./services.mjs").Stores} stores
 * @returns {Promise<Outcome>}
 */
function runTests(bun, stores) {
  if (interrupted) return Promise.resolve({ exitCode: 130, output: "" });
  const long = process.env.FAREBOX_LONG === "1" ? [] : ["--path-ignore-patterns=test/long/**"];
  const child = spawn(bun, ["test", ...long, ...process.argv.slice(2)], {
    cwd: PROJECT,
    env: {
      ...process.env,
      ...(process.stdout.isTTY ? { FORCE_COLOR: "1" } : {}),
      TEST_REDIS_URL: stores.redisUrl,
      TEST_DATABASE_URL: stores.databaseUrl,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  tests = child;
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (chunk) => {
      process.stdout.write(chunk);
      output = (output + chunk).slice(-TAIL_CHARACTERS);
    });
  }
  return new Promise((resolve) => {
    child.on("error", () => resolve({ exitCode: 127, output }));
    child.on("close", (code, signal) =>
      resolve({ exitCode: exitCodeOf({ code, signal }), output }),
    );
  });
}

/**
 * Reads Bun's summary. A run that failed without a failed test counts as one failure.
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
 * @param {Count} counted
 * @param {number} exitCode
 */
function report({ passed, failed, skipped }, exitCode) {
  if (exitCode !== 0 && failed === 1 && passed === 0)
    console.log("The tests did not run to the end.");
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  process.exitCode = exitCode === 0 && failed > 0 ? 1 : exitCode;
}

/** @param {string} line */
function say(line) {
  console.log(`- ${line}`);
}
