// Reads the results of Bun's tests.

import { stripVTControlCharacters } from "node:util";

/** @typedef {{ passed: number, failed: number, skipped: number }} Count */

/**
 * Reads the counts of each file in Bun's JUnit report, where the suites of the highest level are
 * files.
 * @param {string} xml
 * @returns {Map<string, Count>}
 */
export function readCounts(xml) {
  const row = /^ {2}<testsuite name="(.+?)" .*tests="(\d+)".* failures="(\d+)" skipped="(\d+)"/gm;
  return new Map(
    [...xml.matchAll(row)].map(([, file = "", ...numbers]) => {
      const [tests = 0, failed = 0, skipped = 0] = numbers.map(Number);
      return [file, { passed: tests - failed - skipped, failed, skipped }];
    }),
  );
}

/**
 * Reads the number of errors outside of all tests in the summary at the end of Bun's output. The
 * JUnit report has none of them, nor the tests that such an error took from a file.
 * @param {string} words
 * @returns {number}
 */
export function errorsIn(words) {
  const [, errors = "0"] = /^ (\d+) errors?$/m.exec(stripVTControlCharacters(words)) ?? [];
  return Number(errors);
}
