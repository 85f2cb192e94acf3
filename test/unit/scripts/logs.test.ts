// Tests that logs are rotated while their process writes: neither the number of files nor their
// size grows.

import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rotateLogs } from "../../../scripts/local/logs.mjs";
import { launch, temporaryFolder } from "../../../scripts/local/processes.mjs";
import { eventually } from "../../support/eventually.ts";

const LIMITS = { bytesMax: 20_000, kept: 3 };

function folder(): { readonly path: string } & Disposable {
  const { path, remove } = temporaryFolder("farebox-logs-");
  return { path, [Symbol.dispose]: remove };
}

const numbersIn = (file: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map(Number);

test("a log that is written to is cut into parts, and the oldest are dropped", async () => {
  using logs = folder();
  const logFile = join(logs.path, "api.log");
  const script =
    "let n = 0; setInterval(() => { for (let i = 0; i < 50; i += 1) console.log(n++); }, 1)";
  const child = launch({ name: "Writer", command: [process.execPath, "-e", script], logFile });
  let rotations = 0;
  let largest = 0;
  await eventually("it was cut ten times", () => {
    const before = statSync(logFile).size;
    rotateLogs(logs.path, LIMITS);
    if (before > LIMITS.bytesMax) rotations += 1;
    for (const name of readdirSync(logs.path)) {
      largest = Math.max(largest, statSync(join(logs.path, name)).size);
    }
    return rotations >= 10;
  });
  await child.stop();
  expect(readdirSync(logs.path).sort()).toEqual(["api.log", "api.log.1", "api.log.2", "api.log.3"]);
  expect(largest).toBeLessThan(50 * LIMITS.bytesMax);
  const parts = ["api.log.3", "api.log.2", "api.log.1", "api.log"];
  const numbers = parts.flatMap((name) => numbersIn(join(logs.path, name)));
  expect(numbers[0]).toBeGreaterThan(0);
  // In order and none twice; only numbers, so no line was cut in two.
  expect(numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0))).toBe(true);
});

test("small logs, and other files, stay unchanged", () => {
  using logs = folder();
  writeFileSync(join(logs.path, "api.log"), "x".repeat(LIMITS.bytesMax));
  writeFileSync(join(logs.path, "notes.txt"), "x".repeat(LIMITS.bytesMax * 2));
  rotateLogs(logs.path, LIMITS);
  expect(readdirSync(logs.path).sort()).toEqual(["api.log", "notes.txt"]);
});

test("a log keeps its text when it cannot be copied", () => {
  using logs = folder();
  const file = join(logs.path, "api.log");
  const text = "x".repeat(LIMITS.bytesMax * 2);
  writeFileSync(file, text);
  // A folder in the place of the copy: not even root can write a file there.
  mkdirSync(`${file}.new`);
  expect(() => rotateLogs(logs.path, LIMITS)).toThrow();
  expect(readFileSync(file, "utf8")).toBe(text);
});
