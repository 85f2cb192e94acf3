// Tests a log whose reader hangs or ends, or whose disk is full: lines of the log are lost, and the
// process goes on.

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readLate, startLogging } from "../../support/product/log-program.ts";

const CHARACTERS = 1_000;
const LINES = 30_000;

/** Fills its log, reports that on stderr, and waits until the writes have ended. */
const fills = (lines: number, then: string) => `
  const text = "x".repeat(${CHARACTERS});
  for (let at = 0; at < ${lines}; at += 1) log.info({ text }, "A line");
  process.stderr.write("full");
  process.stdout.write("\\n", (error) => setImmediate(() => { ${then} }));`;

/** The process learns of a failed write some turns later. */
const GOES_ON = `
  let turns = 100;
  const turn = () => {
    log.info({}, "Another line");
    turns -= 1;
    if (turns > 0) return setImmediate(turn);
    process.stderr.write("went on");
    process.exit(0);
  };
  turn();`;

test("a process goes on when its log has no reader any more", async () => {
  const program = startLogging(fills(1_000, GOES_ON), readLate("true"));
  expect(await program.says()).toBe("full");
  await program.wake();
  expect(await program.says()).toBe("went on");
});

const FULL_DISK = "/dev/full";

test.skipIf(!existsSync(FULL_DISK))("it goes on when the disk of its log is full", async () => {
  const program = startLogging(fills(1, GOES_ON), `"$BUN" -e "$PROGRAM" >${FULL_DISK}`);
  expect(await program.says()).toBe("full");
  expect(await program.says()).toBe("went on");
});

test("a log that is not read keeps 8 MiB, and says how many lines it lost", async () => {
  const program = startLogging(fills(LINES, "process.exit(0)"), readLate("cat"));
  expect(await program.says()).toBe("full");
  await program.wake();
  const log = await program.log();
  const lines = log.split("\n").filter(Boolean);
  const kept = lines.filter((line) => line.includes('"A line"')).length;
  const [lost, ...others] = lines.filter((line) => line.includes("Log lines were lost"));
  expect(others).toEqual([]);
  expect(JSON.parse(lost ?? "{}")).toMatchObject({ level: 50, lines: LINES - kept });
  // The lines that the pipe has taken come besides.
  expect(log.length).toBeLessThan(9 * 1024 * 1024);
  expect(kept * CHARACTERS).toBeGreaterThan(7 * 1024 * 1024);
});
