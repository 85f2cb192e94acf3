// Runs the command-line tool against a world's stores: in this process, or in a process of its own
// if the environment, the folder or its streams matter.

import { join } from "node:path";
import { runCli } from "../../../src/cli/run-cli.ts";
import type { Environment } from "../../../src/settings/environment.ts";
import { random } from "../random.ts";
import { testRedisUrl } from "../stores/services.ts";
import { WORLD_PEPPER, type World } from "../stores/world.ts";

const ROOT = join(import.meta.dir, "../../..");
/** The program of the tool. */
export const CLI_FILE = join(ROOT, "src/cli/main.ts");

export interface CliOutcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

type CliProcess = Bun.Subprocess<"ignore", "pipe", "pipe">;

export type Cli = (...args: readonly string[]) => Promise<CliOutcome>;

/** The tool in this process, with the world's stores in its environment unless `more` differs. */
export async function cliOf(world: World, more: Environment = {}): Promise<Cli> {
  return cliIn({ ...(await environmentOf(world)), ...more });
}

/** The tool in this process, with this environment. */
export function cliIn(env: Environment): Cli {
  return async (...args) => {
    const [out, err]: [string[], string[]] = [[], []];
    const code = await runCli(args, {
      env,
      now: Date.now,
      random,
      out: (line) => out.push(`${line}\n`),
      err: (line) => err.push(`${line}\n`),
    });
    return { code, out: out.join(""), err: err.join("") };
  };
}

/** The tool as a process for each command. */
export function cliProcessOf(world: World, options: CliOptions = {}): Cli {
  return async (...args) => await outcomeOf(await startCli(world, args, options));
}

/** Runs a command as a process with this environment and the machine's PATH. */
export async function cliProcess(
  args: readonly string[],
  options: Required<Pick<CliOptions, "env">> & CliOptions,
): Promise<CliOutcome> {
  return await outcomeOf(startCliProcess(args, options));
}

async function outcomeOf(child: CliProcess): Promise<CliOutcome> {
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}

/** Starts the tool as a process. */
export async function startCli(
  world: World,
  args: readonly string[],
  options: CliOptions = {},
): Promise<CliProcess> {
  return startCliProcess(args, {
    ...options,
    env: { ...(await environmentOf(world)), ...options.env },
  });
}

/** Starts the tool as a process with this environment and the machine's PATH. */
export function startCliProcess(
  args: readonly string[],
  { cwd = ROOT, env }: CliOptions,
): CliProcess {
  return Bun.spawn([process.execPath, CLI_FILE, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? "", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** The environment of a tool on the world's stores. */
export async function environmentOf(world: World): Promise<Record<string, string>> {
  return {
    REDIS_URL: await testRedisUrl(),
    DATABASE_URL: world.databaseUrl,
    KEY_PEPPER: WORLD_PEPPER,
    IP_HASH_SECRET: "test secret of sixteen",
  };
}

/** Parses the one JSON object of an answer that must have exit code 0. */
// biome-ignore lint/suspicious/noExplicitAny: a test knows which fields are there
export function jsonOf({ code, out, err }: CliOutcome): any {
  if (code !== 0) throw new Error(`Exit code ${code}: ${err}`);
  return JSON.parse(out);
}
