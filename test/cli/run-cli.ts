// Runs the real command-line tool as a process of its own against a world's stores.

import { join } from "node:path";
import { testRedisUrl } from "../support/services.ts";
import { WORLD_PEPPER, type World } from "../support/world.ts";

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
  return async (...args) => {
    const child = await startCli(world, args, options);
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, out, err };
  };
}

/** The tool as a process that runs. */
export async function startCli(
  world: World,
  args: readonly string[],
  options: CliOptions = {},
): Promise<Bun.Subprocess<"ignore", "pipe", "pipe">> {
  return Bun.spawn([process.execPath, join(ROOT, "src/cli/main.ts"), ...args], {
    cwd: options.cwd ?? ROOT,
    env: {
      PATH: process.env.PATH ?? "",
      REDIS_URL: await testRedisUrl(),
      DATABASE_URL: world.databaseUrl,
      KEY_PEPPER: WORLD_PEPPER,
      IP_HASH_SECRET: "test secret of sixteen",
      ...options.env,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** The one JSON object of an answer that must have come with exit code 0. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it knows to be there
export function jsonOf({ code, out, err }: CliOutcome): any {
  if (code !== 0) throw new Error(`Exit code ${code}: ${err}`);
  return JSON.parse(out);
}
