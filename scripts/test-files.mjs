// Selects the test files that run, by the arguments of `npm test`.

import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { PROJECT } from "./local/home.mjs";

/**
 * Suites that start whole products or stores of their own, kill and upgrade them, drive browsers,
 * compile copies of the tree, or try thousands of random commands. These suites take more than half
 * of the time of all tests (D-331).
 */
const SLOW_SUITES = [
  "browser",
  "chaos",
  "e2e",
  "fuzz",
  "model",
  "soak",
  "start",
  "stores",
  "upgrade",
  "walkthrough",
];

/**
 * Returns the test files that have one of `words` in their names. Without words these are all
 * files, those of the slow suites only with `all`. Files below test/product/long run only with
 * FAREBOX_LONG=1.
 * @param {{ words?: readonly string[], all?: boolean }} [wanted]
 */
export function testFiles({ words = [], all = false } = {}) {
  const named = (/** @type {string} */ file) =>
    words.length === 0
      ? all || !SLOW_SUITES.some((suite) => file.startsWith(`test/product/${suite}/`))
      : words.some((word) => file.includes(word.replace(/^\.\//, "")));
  return readdirSync(join(PROJECT, "test"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".test.ts"))
    .map((entry) => relative(PROJECT, join(entry.parentPath, entry.name)))
    .filter((file) => process.env.FAREBOX_LONG === "1" || !file.startsWith("test/product/long/"))
    .filter(named)
    .sort();
}

/** The options of Bun that have no value. One with a value would take a word for it. */
const FLAGS = [
  "--bail",
  "--concurrent",
  "--coverage",
  "--dots",
  "--only",
  "--only-failures",
  "--pass-with-no-tests",
  "--randomize",
  "--todo",
  "--update-snapshots",
  "--update-timings",
];

/**
 * Tells parts of file names from options of Bun. `-t x` would select the files with an x in their
 * names, and Bun would take the first of them for the pattern, so each value stands after a `=`.
 * @param {readonly string[]} given
 * @returns {{ options: string[], words: string[], all: boolean }}
 */
export function parseTestArguments(given) {
  const options = given.filter((argument) => argument.startsWith("-") && argument !== "--all");
  for (const option of options) {
    if (FLAGS.includes(option) || /^--[a-z-]+=./.test(option)) continue;
    throw new Error(
      `'${option}' is no option here. Write a value after '=', as in ` +
        `--test-name-pattern=money; options without a value are ${FLAGS.join(", ")}`,
    );
  }
  return {
    options,
    words: given.filter((argument) => !argument.startsWith("-")),
    all: given.includes("--all"),
  };
}
