// Tests the last line that a process logs.

import { expect, test } from "bun:test";
import { readLate, startLogging } from "../../support/product/log-program.ts";

/** Many times the capacity of a pipe. */
const LINES = 5_000;

/** Ends by an uncaught error, once its log is full, which it reports on stderr. */
const CODE = `
  for (let at = 0; at < ${LINES}; at += 1) log.info({ text: "x".repeat(100) }, "A line");
  process.stderr.write("full");
  setImmediate(() => { throw new RangeError("the end"); });`;

test("the reason of a process's end is in its log even if the log is read late", async () => {
  const program = startLogging(CODE, readLate("cat"));
  expect(await program.says()).toBe("full");
  await program.wake();
  // Bun writes as many of the other lines as it can after it.
  const lines = (await program.log()).split("\n");
  const last = lines.filter((line) => line.includes("was not caught"));
  expect(last).toHaveLength(1);
  expect(JSON.parse(last[0] ?? "")).toMatchObject({
    level: 50,
    msg: "An error was not caught: the process ends",
    err: { type: "RangeError", message: "the end" },
  });
});

test("the reason of a process's end comes after the count of omitted lines", async () => {
  const code = `for (const requestId of [1, 2]) log.warn({ requestId }, "It failed");
    setImmediate(() => { throw new RangeError("the end"); });`;
  const program = startLogging(code, 'exec "$BUN" -e "$PROGRAM"');
  const lines = (await program.log()).split("\n").filter((line) => line !== "");
  const told = lines.map((line) => JSON.parse(line).msg);
  expect(told).toEqual(["It failed", "It failed", expect.stringContaining("was not caught")]);
});
