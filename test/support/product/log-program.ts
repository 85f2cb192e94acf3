// Runs a process that only writes its log, to a standard output that a shell chooses.

import { join } from "node:path";

const RUN_PROCESS = join(import.meta.dir, "../../../src/settings/run-process.ts");
const SECRET = "5".repeat(64);
const ENV = {
  REDIS_URL: "redis://127.0.0.1:1",
  DATABASE_URL: "postgres://x@127.0.0.1:1/x",
  KEY_PEPPER: SECRET,
  IP_HASH_SECRET: SECRET,
};

/** A command whose reader does nothing until `wake`, and then runs this. */
export const readLate = (then: string) =>
  `exec 3<&0; "$BUN" -e "$PROGRAM" </dev/null | { read _ <&3; ${then}; }`;

/**
 * Starts it: `code` writes to `log`. The shell command runs the program by `"$BUN" -e "$PROGRAM"`.
 */
export function startLogging(code: string, command: string) {
  const program = `
    import { runProcess } from ${JSON.stringify(RUN_PROCESS)};
    const start = async (_, log) => { ${code} return async () => {}; };
    await runProcess({ name: "worker", metricsPort: 0, start });`;
  const child = Bun.spawn(["sh", "-c", command], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, ...ENV, BUN: process.execPath, PROGRAM: program },
  });
  const said = child.stderr.getReader();
  return {
    /** The whole text that its reader has read, when both have ended. */
    log: () => child.stdout.text(),
    /** The next text on stderr; null once it has ended. */
    async says(): Promise<string | null> {
      const { value } = await said.read();
      return value === undefined ? null : Buffer.from(value).toString();
    },
    async wake(): Promise<void> {
      child.stdin.write("\n");
      await child.stdin.end();
    },
  };
}
