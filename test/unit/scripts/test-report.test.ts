// Tests that `npm test` reads the results of Bun as they are: also the errors that no test reports.

import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorsIn, readCounts } from "../../../scripts/test-report.mjs";
import { sharedFolder } from "../../support/shared.ts";

const folder = sharedFolder("reports");

const BROKEN = `
  import { describe, test } from "bun:test";
  test("passes", () => {});
  describe("a table", () => {
    throw new Error("It could not be read");
  });`;
const FAILING = `
  import { test } from "bun:test";
  test("passes", () => {});
  test.skip("is skipped", () => {});
  test("fails", () => {
    throw new Error("no");
  });`;

/** Runs a file of tests, and returns the counts of it and the errors outside of its tests. */
function resultOf(name: string, text: string, color: string) {
  writeFileSync(join(folder, name), text);
  const results = join(folder, "results.xml");
  const reporter = ["--reporter=junit", `--reporter-outfile=${results}`];
  const { stderr } = Bun.spawnSync([process.execPath, "test", ...reporter, `./${name}`], {
    cwd: folder,
    env: { ...process.env, FORCE_COLOR: color },
  });
  const counts = readCounts(readFileSync(results, "utf8"));
  return { count: counts.get(name), errors: errorsIn(String(stderr)) };
}

test.each(["0", "1"])("an error outside of all tests is counted (colors: %s)", (color) => {
  expect(resultOf("broken.test.ts", BROKEN, color)).toEqual({
    count: { passed: 1, failed: 0, skipped: 0 },
    errors: 1,
  });
  expect(resultOf("failing.test.ts", FAILING, color)).toEqual({
    count: { passed: 1, failed: 1, skipped: 1 },
    errors: 0,
  });
});

test("words of a test are no error", () => {
  expect(errorsIn("1 error\n the 2 errors\n 12 pass\n 0 fail\n")).toBe(0);
});
