// A worker that only writes its log, to what a shell gives it as standard output.

import { join } from "node:path";

const RUN_PROCESS = join(import.meta.dir, "../../../src/settings/run-process.ts");
const SECRET = "5".repeat(64);
const ENV = {
  REDIS_URL: "redis://127.0.0.1:1",
  DATABASE_URL: "postgres://x@127.0.0.1:1/x",
  KEY_PEPPER: SECRET,
  IP_HASH_SECRET: SECRET,
};

/** Runs it, with a reader that does nothing until `wake`, and then this. */
export const readLate = (then: string) =>
  `exec 3<&0; "$BUN" -e "$PROGRAM" </dev/null | { read _ <&3; ${then}; }`;

/** Starts it: `code` writes to `log`. The command of a shell runs it by `"$BUN" -e "$PROGRAM"`. */
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
    /** All that its reader has read, when both have ended. */
    log: () => child.stdout.text(),
    /** The next that it says on stderr; null once it has ended. */
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
