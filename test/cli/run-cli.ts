// Runs the real command-line tool as a process of its own against a world's stores.

import { join } from "node:path";
import { testRedisUrl } from "../support/services.ts";
import type { World } from "../support/world.ts";

const ROOT = join(import.meta.dir, "../..");

export interface CliOutcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export type Cli = (...args: readonly string[]) => Promise<CliOutcome>;

/** The tool with the world's stores in its environment. */
export async function cliOf(world: World, options: CliOptions = {}): Promise<Cli> {
  const redisUrl = await testRedisUrl();
  return async (...args) => {
    const child = Bun.spawn([process.execPath, join(ROOT, "src/cli/main.ts"), ...args], {
      cwd: options.cwd ?? ROOT,
      env: {
        PATH: process.env.PATH ?? "",
        REDIS_URL: redisUrl,
        DATABASE_URL: world.databaseUrl,
        // The pepper of the world, so that both make and find the same keys.
        KEY_PEPPER: "test pepper of sixteen",
        IP_HASH_SECRET: "test secret of sixteen",
        ...options.env,
      },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, out, err };
  };
}

/** The one JSON object of an answer that must have come with exit code 0. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it knows to be there
export function jsonOf({ code, out, err }: CliOutcome): any {
  if (code !== 0) throw new Error(`Exit code ${code}: ${err}`);
  return JSON.parse(out);
}
