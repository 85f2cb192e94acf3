// Which test files run, and in which order: the longest first, so that no lane is left with one of
// them at the end. How long each takes is kept in test/times.json.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { PROJECT } from "./home.mjs";

const TIMES = join(PROJECT, "test", "times.json");
/** Shorter files leave no lane waiting, in whichever order. */
const KEPT_SECONDS_MIN = 5;
const SHOWN = 10;
/**
 * Suites that start whole products, kill and upgrade them, and drive browsers, and the one that
 * compiles copies of the tree. They take more than half of the time of all tests (D-331).
 */
const SLOW_SUITES = ["browser", "chaos", "e2e", "fuzz", "soak", "upgrade", "walkthrough"];

/**
 * The test files that have one of `words` in their names. Without words these are all files, those
 * of the slow suites only with `all`. Those below test/long run only with FAREBOX_LONG=1.
 * @param {{ words?: readonly string[], all?: boolean }} [wanted]
 */
export function testFiles({ words = [], all = false } = {}) {
  const times = keptTimes();
  const named = (/** @type {string} */ file) =>
    words.length === 0
      ? all || !SLOW_SUITES.some((suite) => file.startsWith(`test/${suite}/`))
      : words.some((word) => file.includes(word.replace(/^\.\//, "")));
  const files = readdirSync(join(PROJECT, "test"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".test.ts"))
    .map((entry) => relative(PROJECT, join(entry.parentPath, entry.name)))
    .filter((file) => process.env.FAREBOX_LONG === "1" || !file.startsWith("test/long/"))
    .filter(named);
  const secondsOf = (/** @type {string} */ file) => times[file] ?? 0;
  return files.sort((a, b) => secondsOf(b) - secondsOf(a) || (a < b ? -1 : 1));
}

/**
 * Keeps how long the files took and says which took longest, where FAREBOX_TIMES=1 asks for it. A
 * run of some files changes only their times.
 * @param {ReadonlyMap<string, number>} seconds by file
 * @param {(line: string) => void} say
 */
export function keepTimes(seconds, say) {
  if (process.env.FAREBOX_TIMES !== "1") return;
  const known = new Set(testFiles({ all: true }));
  const all = Object.entries({ ...keptTimes(), ...Object.fromEntries(seconds) })
    .map(([file, time]) => /** @type {const} */ ([file, Math.round(time)]))
    .filter(([file, time]) => known.has(file) && time >= KEPT_SECONDS_MIN)
    .sort(([a, most], [b, least]) => least - most || (a < b ? -1 : 1));
  writeFileSync(TIMES, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
  const longest = [...seconds].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
  for (const [file, time] of longest) say(`${time.toFixed(1)} s ${file}`);
}

/** @returns {Record<string, number>} */
function keptTimes() {
  return existsSync(TIMES) ? JSON.parse(readFileSync(TIMES, "utf8")) : {};
}
