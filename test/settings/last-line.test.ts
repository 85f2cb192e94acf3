// What a process logs last of all.

import { expect, test } from "bun:test";
import { join } from "node:path";

const RUN_PROCESS = join(import.meta.dir, "../../src/settings/run-process.ts");
const SECRET = "5".repeat(64);
const ENV = {
  REDIS_URL: "redis://127.0.0.1:1",
  DATABASE_URL: "postgres://x@127.0.0.1:1/x",
  KEY_PEPPER: SECRET,
  IP_HASH_SECRET: SECRET,
};
/** Many times what a pipe holds. */
const LINES = 5_000;

/** Ends by an error that nothing catches, once its log is full; says so on stderr. */
const PROGRAM = `
  import { runProcess } from ${JSON.stringify(RUN_PROCESS)};
  await runProcess({
    name: "worker",
    metricsPort: 0,
    start: async (_, log) => {
      for (let at = 0; at < ${LINES}; at += 1) log.info({ text: "x".repeat(100) }, "A line");
      process.stderr.write("full");
      setImmediate(() => { throw new RangeError("the end"); });
      return async () => {};
    },
  });`;
/** Reads the log of the program once a line comes on stdin. */
const READS_LATE = `exec 3<&0; "$BUN" -e "$PROGRAM" </dev/null | { read _ <&3; cat; }`;

test("why a process ends is in its log even if the log is read late", async () => {
  const child = Bun.spawn(["sh", "-c", READS_LATE], {
    ...{ stdin: "pipe", stdout: "pipe", stderr: "pipe" },
    env: { ...process.env, ...ENV, BUN: process.execPath, PROGRAM },
  });
  const { value } = await child.stderr.getReader().read();
  expect(Buffer.from(value ?? []).toString()).toBe("full");
  child.stdin.write("\n");
  await child.stdin.end();
  // Bun writes what it can of the others after it.
  const lines = (await child.stdout.text()).split("\n");
  const last = lines.filter((line) => line.includes("was not caught"));
  expect(last).toHaveLength(1);
  expect(JSON.parse(last[0] ?? "")).toMatchObject({
    ...{ level: 50, msg: "An error was not caught: the process ends" },
    err: { type: "RangeError", message: "the end" },
  });
});
