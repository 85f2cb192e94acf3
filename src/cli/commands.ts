// All commands, and the parser of a command line.

import { accountCommands } from "./accounts/account-commands.ts";
import { budgetCommands } from "./accounts/budget-commands.ts";
import { burnCommands } from "./accounts/burn-commands.ts";
import { endUserCommands } from "./accounts/end-user-commands.ts";
import { keyCommands } from "./accounts/key-commands.ts";
import { peopleCommands } from "./accounts/people-commands.ts";
import { runCommands } from "./accounts/run-commands.ts";
import { teamCommands } from "./accounts/team-commands.ts";
import { webhookCommands } from "./accounts/webhook-commands.ts";
import {
  type Command,
  type CommandForm,
  type CommandWithoutStores,
  type ParsedArguments,
  parseArguments,
  UsageError,
} from "./command.ts";
import { configCommands } from "./config-commands.ts";
import { drillCommands } from "./drill/drill-command.ts";
import { commandHelp, overview, PROCESSES } from "./help.ts";
import { importCommands } from "./import-commands.ts";
import { indexCommands } from "./index-commands.ts";
import { mailCommands } from "./mail-commands.ts";
import { modelCommands } from "./model-commands.ts";
import { auditCommands } from "./operation/audit-command.ts";
import { backupCommands } from "./operation/backup-commands.ts";
import { doctorCommands } from "./operation/doctor-command.ts";
import { journalCommands } from "./operation/journal-commands.ts";
import { logCommands } from "./operation/log-commands.ts";
import { migrateCommands } from "./operation/migrate-command.ts";
import { restoreCommands } from "./operation/restore-commands.ts";
import { usageCommands } from "./operation/usage-commands.ts";
import { operationCommands } from "./operation-commands.ts";
import { operatorCommands } from "./operator-commands.ts";
import { paymentCommands } from "./payments/payment-commands.ts";
import { planCommands } from "./payments/plan-commands.ts";
import { topUpCommands } from "./payments/top-up-commands.ts";
import { voucherCommands } from "./payments/voucher-commands.ts";
import { priceCommands } from "./prices/price-commands.ts";
import { quoteCommands } from "./prices/quote-command.ts";
import { reconcileCommands } from "./prices/reconcile-command.ts";
import { readingCommands } from "./reading-commands.ts";
import { receiptCommands } from "./receipt-commands.ts";
import { reportCommands } from "./report-commands.ts";
import { serviceCommands } from "./service-commands.ts";
import { setupCommand } from "./setup/setup-command.ts";

const COMMANDS: readonly (Command | CommandWithoutStores)[] = [
  setupCommand,
  ...accountCommands,
  ...paymentCommands,
  ...topUpCommands,
  ...planCommands,
  ...voucherCommands,
  ...keyCommands,
  ...budgetCommands,
  ...endUserCommands,
  ...burnCommands,
  ...runCommands,
  ...peopleCommands,
  ...webhookCommands,
  ...modelCommands,
  ...configCommands,
  ...teamCommands,
  ...operatorCommands,
  ...serviceCommands,
  ...indexCommands,
  ...importCommands,
  ...mailCommands,
  ...logCommands,
  ...usageCommands,
  ...reportCommands,
  ...priceCommands,
  ...quoteCommands,
  ...receiptCommands,
  ...reconcileCommands,
  ...readingCommands,
  ...journalCommands,
  ...operationCommands,
  ...auditCommands,
  ...doctorCommands,
  ...drillCommands,
  ...backupCommands,
  ...restoreCommands,
  ...migrateCommands,
];

export type Invocation =
  | { readonly kind: "help"; readonly text: string }
  | {
      readonly kind: "run";
      readonly run: ReturnType<Command["prepare"]>;
      readonly json: boolean;
      readonly comparesSecrets: boolean;
    }
  | {
      readonly kind: "run alone";
      readonly run: ReturnType<CommandWithoutStores["prepareAlone"]>;
      readonly json: boolean;
    };

/** Parses and checks a command line without opening anything. @throws UsageError */
export function parseCommandLine(args: readonly string[], nowMs: number): Invocation {
  const command = COMMANDS.find(({ name }) => isNamed(args, name));
  if (command === undefined) return helpOf(args);
  const parsed = parsedArguments(command, args);
  if (parsed.help) return { kind: "help", text: commandHelp(command) };
  const { json } = parsed;
  if ("prepareAlone" in command) {
    return { kind: "run alone", run: command.prepareAlone({ ...parsed, nowMs }), json };
  }
  return {
    kind: "run",
    run: command.prepare({ ...parsed, nowMs }),
    json,
    comparesSecrets: command.comparesSecrets !== false,
  };
}

function parsedArguments(command: CommandForm, args: readonly string[]): ParsedArguments {
  try {
    return parseArguments(command, args.slice(command.name.split(" ").length));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${error.message}. 'farebox ${command.name} --help' shows what it takes`);
  }
}

/** The help of all commands or of a group. @throws UsageError if no help was requested */
function helpOf(args: readonly string[]): Invocation {
  const words = args.filter((arg) => !arg.startsWith("-"));
  const group = COMMANDS.filter(({ name }) => name.split(" ")[0] === words[0]);
  const known = group.length > 0 ? group : COMMANDS;
  const wantsHelp = args.includes("--help") || args.includes("-h");
  if (wantsHelp && (words.length === 0 || group.length > 0)) {
    return { kind: "help", text: overview(known) };
  }
  if (args.length === 0) throw new UsageError(overview(COMMANDS));
  throw new UsageError(unknownCommand(words, group));
}

/** Explains an unknown command. `group` has the commands that begin with the same word. */
function unknownCommand([first, second]: readonly string[], group: readonly CommandForm[]) {
  const names = group.map(({ name }) => name).join(", ");
  if (group.length === 0) {
    const begin = new Set(COMMANDS.map(({ name }) => name.split(" ")[0]));
    const words = [...begin, ...PROCESSES.map(([name]) => name)].join(", ");
    const wrong = first === undefined ? "No command is named" : `Unknown command '${first}'`;
    return `${wrong}. The first word is one of ${words} ('farebox --help' shows all)`;
  }
  if (second === undefined) return `'${first}' needs a second word: ${names}`;
  return `Unknown command '${first} ${second}'. There are: ${names}`;
}

function isNamed(args: readonly string[], name: string): boolean {
  return name.split(" ").every((word, index) => args[index] === word);
}
