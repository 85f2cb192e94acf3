// The command-line tool: parses the command line, opens the stores, runs the command and prints the
// result.

import { AdministrationError, ApiError } from "../core/errors.ts";
import { ConfigError, loadStoreConfig } from "../settings/config.ts";
import { WrongRedisUrl } from "../store/redis-url.ts";
import { WrongSecret } from "../store/secrets.ts";
import { type Answer, UsageError } from "./command.ts";
import { type Invocation, parseCommandLine } from "./commands.ts";
import { OutputClosed } from "./sink.ts";
import { openStores } from "./stores.ts";

const FAILED = 1;
const WRONG_USAGE = 2;

async function main(args: readonly string[]): Promise<number> {
  const invocation = parseCommandLine(args, Date.now());
  if (invocation.kind === "help") {
    console.log(invocation.text);
    return 0;
  }
  const answer = await runCommand(invocation);
  print(answer, invocation.json);
  return answer.failed === true ? FAILED : 0;
}

async function runCommand({
  run,
  comparesSecrets,
}: Extract<Invocation, { kind: "run" }>): Promise<Answer> {
  const stores = openStores({
    config: loadStoreConfig(),
    now: Date.now,
    random: (count) => crypto.getRandomValues(new Uint8Array(count)),
    warn: (line) => console.error(line),
  });
  try {
    if (comparesSecrets) await stores.compareSecrets();
    return await run(stores);
  } finally {
    await stores.close();
  }
}

function print({ json, text, failed }: Answer, asJson: boolean): void {
  if (asJson) console.log(JSON.stringify(json));
  else if (text !== null && failed === true) console.error(text);
  else if (text !== null) console.log(text);
}

/** The code and message of an error. An unexpected error keeps its stack, because it is a bug. */
function explain(error: unknown): { code: string; message: string } {
  if (error instanceof UsageError) return { code: "usage", message: error.message };
  const isConfig = [ConfigError, WrongSecret, WrongRedisUrl].some((of) => error instanceof of);
  if (isConfig && error instanceof Error) return { code: "config", message: error.message };
  if (error instanceof AdministrationError) return { code: error.code, message: error.message };
  const root = rootOf(error);
  const reason = root instanceof Error ? root.message : String(root);
  if (error instanceof ApiError) {
    const message = root === error ? reason : `${error.message} (${reason})`;
    return { code: error.code, message };
  }
  // System errors have a code: a store that cannot be reached, a file that cannot be written.
  if (root instanceof Error && "code" in root && typeof root.code === "string") {
    return {
      code: root.code,
      message: reason.includes(root.code) ? reason : `${root.code}: ${reason}`,
    };
  }
  return { code: "failed", message: root instanceof Error ? (root.stack ?? reason) : reason };
}

function rootOf(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return root;
}

function fail(error: unknown, args: readonly string[]): number {
  if (error instanceof OutputClosed) return 0;
  const { code, message } = explain(error);
  if (args.includes("--json")) console.log(JSON.stringify({ error: { code, message } }));
  console.error(message);
  return error instanceof UsageError ? WRONG_USAGE : FAILED;
}

const args = process.argv.slice(2);
process.exitCode = await main(args).catch((error: unknown) => fail(error, args));
