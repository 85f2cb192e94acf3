// The command-line tool: finds the command, checks its words, opens the stores, prints the answer.

import { Refused } from "../calls/administration.ts";
import { ConfigError, loadStoreConfig } from "../config.ts";
import { ApiError } from "../core/errors.ts";
import { accountCommands } from "./account-commands.ts";
import { auditCommands } from "./audit-command.ts";
import { type Answer, type Command, parseWords, UsageError } from "./command.ts";
import { commandHelp, overview } from "./help.ts";
import { keyCommands } from "./key-commands.ts";
import { logCommands } from "./log-commands.ts";
import { paymentCommands } from "./payment-commands.ts";
import { serviceCommands } from "./service-commands.ts";
import { ReaderGone } from "./sink.ts";
import { openStores } from "./stores.ts";

const COMMANDS: readonly Command[] = [
  ...accountCommands,
  ...paymentCommands,
  ...keyCommands,
  ...serviceCommands,
  ...logCommands,
  ...auditCommands,
];

const FAILED = 1;
const WRONG_USAGE = 2;

async function main(args: readonly string[]): Promise<number> {
  const wantsHelp = args.includes("--help") || args.includes("-h");
  const command = COMMANDS.find(({ name }) => isNamed(args, name));
  if (command === undefined) {
    const group = COMMANDS.filter(({ name }) => name.split(" ")[0] === args[0]);
    const isEmpty = args.every((arg) => arg.startsWith("-"));
    if (wantsHelp && (isEmpty || group.length > 0)) {
      console.log(overview(isEmpty ? COMMANDS : group));
      return 0;
    }
    if (isEmpty && args.length === 0) {
      console.error(overview(COMMANDS));
      return WRONG_USAGE;
    }
    const named = args.filter((arg) => !arg.startsWith("-")).slice(0, 2);
    throw new UsageError(`There is no command '${named.join(" ")}'. 'farebox --help' lists them`);
  }
  const parsed = parseWords(command, args.slice(command.name.split(" ").length));
  if (parsed.help) {
    console.log(commandHelp(command));
    return 0;
  }
  const run = command.plan({ ...parsed, nowMs: Date.now() });
  const answer = await withStores(run);
  print(answer, parsed.json);
  return answer.failed === true ? FAILED : 0;
}

function isNamed(args: readonly string[], name: string): boolean {
  return name.split(" ").every((word, index) => args[index] === word);
}

async function withStores(run: ReturnType<Command["plan"]>): Promise<Answer> {
  const stores = openStores({
    config: loadStoreConfig(),
    now: Date.now,
    random: (count) => crypto.getRandomValues(new Uint8Array(count)),
    warn: (line) => console.error(line),
  });
  try {
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

/** What went wrong in words; a stranger error keeps its stack, for it is our own fault. */
function explain(error: unknown): { code: string; message: string } {
  if (error instanceof UsageError) return { code: "usage", message: error.message };
  if (error instanceof ConfigError) return { code: "config", message: error.message };
  if (error instanceof Refused) return { code: error.code, message: error.message };
  if (error instanceof ApiError) {
    const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
    return { code: error.code, message: `${error.message}${cause}` };
  }
  if (!(error instanceof Error)) return { code: "failed", message: String(error) };
  if ("code" in error && typeof error.code === "string") {
    return { code: error.code, message: error.message || error.code };
  }
  return { code: "failed", message: error.stack ?? error.message };
}

function fail(error: unknown, args: readonly string[]): number {
  if (error instanceof ReaderGone) return 0;
  const { code, message } = explain(error);
  if (args.includes("--json")) console.log(JSON.stringify({ error: { code, message } }));
  console.error(message);
  return error instanceof UsageError ? WRONG_USAGE : FAILED;
}

const args = process.argv.slice(2);
process.exitCode = await main(args).catch((error: unknown) => fail(error, args));
