import { type CommandForm, optionText } from "./command.ts";
import { indented, table } from "./print.ts";

/** Processes that scripts/farebox.mjs starts, instead of the command-line tool. */
export const PROCESSES = [
  ["api", "Answer requests; any number of them may share one port"],
  ["worker", "Run the background jobs; at least one, any number of them"],
  ["start", "Run all of it with stores of its own, as npm start does"],
] as const;

/** The help of one command. */
export function commandHelp(command: CommandForm): string {
  const options = Object.entries(command.options).map(([name, { value, help, required }]) => [
    optionText(name, value),
    required === true ? `${help} (required)` : help,
  ]);
  options.push(["--json", "print the result as one JSON object"], ["--help", "show this help"]);
  return [`${usage(command)}\n`, command.summary, "", indented(table(options))].join("\n");
}

/** Lists all commands, or the commands of a group. */
export function overview(commands: readonly CommandForm[]): string {
  const shown = commands.filter(({ isInner }) => isInner !== true);
  const rows = shown.map((command) => [usage(command), brief(command.summary)]);
  return [
    "farebox <command>: manages the accounts and stores of the running Farebox",
    "",
    indented(table(rows)),
    "",
    "Processes, which run until they are stopped; their settings are environment variables",
    "(docs/configuration.md):",
    "",
    indented(table(PROCESSES.map(([name, what]) => [`farebox ${name}`, what]))),
    "",
    "Every command takes --json and --help. Exit codes: 0 done, 1 failed, 2 invalid command line.",
  ].join("\n");
}

function usage({ name, positionals, options }: CommandForm): string {
  const needed = Object.entries(options).filter(([, { required }]) => required === true);
  const others = Object.keys(options).length - needed.length;
  return [
    `farebox ${name}`,
    ...positionals,
    ...needed.map(([option, { value }]) => optionText(option, value)),
    ...(others > 0 ? ["[options]"] : []),
  ].join(" ");
}

function brief(summary: string): string {
  return summary.split(":")[0] ?? summary;
}
