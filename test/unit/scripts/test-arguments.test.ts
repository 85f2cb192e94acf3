// Tests the arguments of `npm test`, and that a recorded state is never replaced.

import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { parseTestArguments } from "../../../scripts/test-files.mjs";
import { type Recorded, writeRecorded } from "../../product/upgrade/recorded.ts";

test.each([
  [["-t", "money"], "'-t' is no option here"],
  [["--test-name-pattern", "money"], "--test-name-pattern=money"],
  [["wallet", "--timeout", "5"], "'--timeout' is no option here"],
  [["--rerun-each="], "Write a value after '='"],
  [["-t=money"], "'-t=money' is no option here"],
])("an option that would take a word for its value is refused: %p", (given, words) => {
  expect(() => parseTestArguments(given)).toThrow(words);
});

test("words select files, and options reach Bun", () => {
  const pattern = "--test-name-pattern=a refund";
  expect(parseTestArguments(["wallet", "--all", "--bail", pattern, "money"])).toEqual({
    options: ["--bail", pattern],
    words: ["wallet", "money"],
    all: true,
  });
});

test("a state that a release has left is not written again", () => {
  const folder = temporaryFolder("farebox-recorded-");
  try {
    const file = join(folder.path, "v9.9.9.json.gz");
    writeFileSync(file, "what it once left");
    const refused = () => writeRecorded("v9.9.9", {} as Recorded, folder.path);
    expect(refused).toThrow(`${file} exists. Remove it first to record it again`);
    expect(readFileSync(file, "utf8")).toBe("what it once left");
    expect(writeRecorded("v9.9.8", {} as Recorded, folder.path)).toEndWith("v9.9.8.json.gz");
  } finally {
    folder.remove();
  }
});
