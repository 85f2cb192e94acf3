// Starts the programs of the benchmark with scripts/local/processes.mjs, which stops them when the
// benchmark ends.

import { join } from "node:path";
import * as processes from "../scripts/local/processes.mjs";

export interface Program {
  readonly pid: number;
  stop(): Promise<void>;
}

interface Launched {
  readonly record: { readonly pid: number };
  exit(): { readonly code: number | null } | null;
  stop(timeoutMs?: number): Promise<void>;
}

interface LaunchOptions {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly logFile: string;
}

// The type declarations of that file cover only the functions that tests use.
const { launch, freePort, lastWords } = processes as unknown as {
  launch(options: LaunchOptions): Launched;
  freePort(): Promise<number>;
  lastWords(file: string): string;
};

export { freePort };

export const PROJECT = join(import.meta.dir, "..");
export const BUN = process.execPath;

const READY_MS = 60_000;
const STOP_MS = 15_000;

export interface ServerOptions {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The working folder: this project by default, or another version of it. */
  readonly cwd?: string;
  readonly logFolder: string;
  /** A URL that answers with any status once the program is ready. */
  readonly readyUrl: string;
}

/** Starts a server and waits until it answers. */
export async function startServer(options: ServerOptions): Promise<Program> {
  const { name, command, env = {}, cwd = PROJECT, logFolder, readyUrl } = options;
  const logFile = join(logFolder, `${name}.log`);
  const child = launch({
    name,
    command,
    env: { ...process.env, NODE_ENV: "production", ...env },
    cwd,
    logFile,
  });
  const stop = () => child.stop(STOP_MS);
  for (const endMs = Date.now() + READY_MS; Date.now() < endMs; await Bun.sleep(30)) {
    if (child.exit() !== null) throw new Error(`${name} ended:\n${lastWords(logFile)}`);
    if (await answers(readyUrl)) return { pid: child.record.pid, stop };
  }
  await stop();
  throw new Error(`${name} did not answer at ${readyUrl}:\n${lastWords(logFile)}`);
}

async function answers(url: string): Promise<boolean> {
  try {
    await (await fetch(url, { signal: AbortSignal.timeout(2_000) })).bytes();
    return true;
  } catch {
    return false;
  }
}
