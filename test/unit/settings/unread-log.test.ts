// What reads a log may hang or end, and a disk may be full: that costs lines of the log.

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readLate, startLogging } from "../../support/product/log-program.ts";

const CHARACTERS = 1_000;
const LINES = 30_000;

/** Fills its log, says so on stderr, and waits until this is known of what it wrote. */
const fills = (lines: number, then: string) => `
  const text = "x".repeat(${CHARACTERS});
  for (let at = 0; at < ${lines}; at += 1) log.info({ text }, "A line");
  process.stderr.write("full");
  process.stdout.write("\\n", (error) => setImmediate(() => { ${then} }));`;

/** A failed write is told to the process some turns later. */
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

test("a process goes on when nobody reads its log any more", async () => {
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
  // What the pipe has taken comes besides.
  expect(log.length).toBeLessThan(9 * 1024 * 1024);
  expect(kept * CHARACTERS).toBeGreaterThan(7 * 1024 * 1024);
});
