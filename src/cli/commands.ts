// All commands, and what a command line asks for.

import { accountCommands } from "./account-commands.ts";
import { auditCommands } from "./audit-command.ts";
import { type Command, parseWords, UsageError } from "./command.ts";
import { commandHelp, overview } from "./help.ts";
import { indexCommands } from "./index-commands.ts";
import { journalCommands } from "./journal-commands.ts";
import { keyCommands } from "./key-commands.ts";
import { logCommands } from "./log-commands.ts";
import { mailCommands } from "./mail-commands.ts";
import { migrateCommands } from "./migrate-command.ts";
import { paymentCommands } from "./payment-commands.ts";
import { serviceCommands } from "./service-commands.ts";
import { topUpCommands } from "./top-up-commands.ts";

const COMMANDS: readonly Command[] = [
  ...accountCommands,
  ...paymentCommands,
  ...topUpCommands,
  ...keyCommands,
  ...serviceCommands,
  ...indexCommands,
  ...mailCommands,
  ...logCommands,
  ...journalCommands,
  ...auditCommands,
  ...migrateCommands,
];

export type Plan =
  | { readonly kind: "help"; readonly text: string }
  | {
      readonly kind: "run";
      readonly run: ReturnType<Command["plan"]>;
      readonly json: boolean;
      readonly comparesSecrets: boolean;
    };

/** What is to be done; nothing is opened before this returns. @throws UsageError */
export function planOf(args: readonly string[], nowMs: number): Plan {
  const command = COMMANDS.find(({ name }) => isNamed(args, name));
  if (command === undefined) return helpOf(args);
  const parsed = parseWords(command, args.slice(command.name.split(" ").length));
  if (parsed.help) return { kind: "help", text: commandHelp(command) };
  return {
    kind: "run",
    run: command.plan({ ...parsed, nowMs }),
    json: parsed.json,
    comparesSecrets: command.comparesSecrets !== false,
  };
}

/** The help of everything or of a group, or an error that lists what there is. */
function helpOf(args: readonly string[]): Plan {
  const words = args.filter((arg) => !arg.startsWith("-"));
  const group = COMMANDS.filter(({ name }) => name.split(" ")[0] === words[0]);
  const known = group.length > 0 ? group : COMMANDS;
  const wantsHelp = args.includes("--help") || args.includes("-h");
  if (wantsHelp && (words.length === 0 || group.length > 0)) {
    return { kind: "help", text: overview(known) };
  }
  if (args.length === 0) throw new UsageError(overview(COMMANDS));
  const named = words.slice(0, group.length > 0 ? 2 : 1).join(" ");
  const names = known.map(({ name }) => name).join(", ");
  throw new UsageError(`There is no command '${named}'. There are: ${names}`);
}

function isNamed(args: readonly string[], name: string): boolean {
  return name.split(" ").every((word, index) => args[index] === word);
}
