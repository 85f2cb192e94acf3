// Runs one command: parses the command line, opens the stores, runs the command, prints the result.

import { ConsoleError } from "../core/console-errors.ts";
import { AdministrationError, ApiError } from "../core/errors.ts";
import type { RandomBytes } from "../core/ids.ts";
import { StartError } from "../core/start-error.ts";
import { rootOf, thrownMessage } from "../core/text/error-message.ts";
import { loadConsoleOrigin, loadEnvironment, loadStoreConfig } from "../settings/config.ts";
import type { Environment } from "../settings/environment.ts";
import { checkMigrated } from "../store/servers/migrate.ts";
import { isUnknownName } from "../store/servers/sql-errors.ts";
import { storeAway } from "../store/servers/store-away.ts";
import { type Answer, type Surroundings, UsageError } from "./command.ts";
import { type Invocation, parseCommandLine } from "./commands.ts";
import { OutputClosed } from "./sink.ts";
import { openStores, type Stores } from "./stores.ts";
import { visible } from "./visible.ts";

/** The parts of its process that a command needs. */
export interface CliContext {
  /** By default the environment of the process. */
  readonly env?: Environment;
  readonly now: () => number;
  readonly random: RandomBytes;
  /** Prints a line of output. */
  readonly out: (line: string) => void;
  /** Prints a line about a problem. */
  readonly err: (line: string) => void;
}

const FAILED = 1;
const WRONG_USAGE = 2;

/** Runs the command in these arguments and returns the exit code. Never throws. */
export async function runCli(args: readonly string[], given: CliContext): Promise<number> {
  const context = {
    ...given,
    out: (line: string) => given.out(visible(line)),
    err: (line: string) => given.err(visible(line)),
  };
  return await runCommand(args, context).catch((error: unknown) => fail(error, args, context));
}

async function runCommand(args: readonly string[], context: CliContext): Promise<number> {
  const invocation = parseCommandLine(args, context.now());
  if (invocation.kind === "help") {
    context.out(invocation.text);
    return 0;
  }
  const answer =
    invocation.kind === "run"
      ? await withStores(invocation, context)
      : await invocation.run(surroundingsOf(context));
  print(answer, invocation.json, context);
  return answer.failed === true ? FAILED : 0;
}

function surroundingsOf(context: CliContext): Surroundings {
  const { env, now, err } = context;
  return { environment: loadEnvironment(env), now, say: err, openStores: () => storesOf(context) };
}

function storesOf({ env, now, random, err }: CliContext): Stores {
  return openStores({
    config: loadStoreConfig(env),
    environment: env,
    consoleOrigin: loadConsoleOrigin(env),
    now,
    random,
    warn: err,
  });
}

async function withStores(
  { run, comparesSecrets }: Extract<Invocation, { kind: "run" }>,
  context: CliContext,
): Promise<Answer> {
  const stores = storesOf(context);
  try {
    if (comparesSecrets) await stores.compareSecrets();
    return await run(stores);
  } catch (error) {
    if (isUnknownName(rootOf(error))) await checkMigrated(stores.database);
    throw error;
  } finally {
    await stores.close();
  }
}

function print({ json, text, failed }: Answer, asJson: boolean, { out, err }: CliContext): void {
  if (asJson) out(JSON.stringify(json));
  else if (text !== null && failed === true) err(text);
  else if (text !== null) out(text);
}

/** The code and message of an error. An unexpected error keeps its stack, because it is a bug. */
function explain(error: unknown): { code: string; message: string } {
  if (error instanceof UsageError) return { code: "usage", message: error.message };
  const isRefusal = error instanceof AdministrationError || error instanceof ConsoleError;
  if (isRefusal) return { code: error.code, message: error.message };
  const away = storeAway(error);
  if (away !== null) {
    const { store, words } = away;
    return { code: `${store}_away`, message: `${words} (farebox doctor says more)` };
  }
  if (error instanceof StartError) return { code: "config", message: error.message };
  const root = rootOf(error);
  const reason = thrownMessage(root);
  if (error instanceof ApiError) {
    const message = root === error ? reason : `${error.message} (${reason})`;
    return { code: error.code, message };
  }
  // System errors have a code: a store that cannot be reached, a file that cannot be written.
  const systemCode = codeOf(root);
  if (systemCode !== null) {
    const message = reason.includes(systemCode) ? reason : `${systemCode}: ${reason}`;
    return { code: systemCode, message };
  }
  return { code: "failed", message: root instanceof Error ? (root.stack ?? reason) : reason };
}

function codeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

function fail(error: unknown, args: readonly string[], { out, err }: CliContext): number {
  if (error instanceof OutputClosed) return 0;
  const { code, message } = explain(error);
  if (args.includes("--json")) out(JSON.stringify({ error: { code, message } }));
  err(message);
  return error instanceof UsageError ? WRONG_USAGE : FAILED;
}
