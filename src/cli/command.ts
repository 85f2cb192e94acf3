// The definition of a command, and the parser of its arguments. Arguments are checked before
// anything is opened; an error names the argument that is wrong.

import { parseArgs } from "node:util";
import type { Environment } from "../settings/environment.ts";
import type { Stores } from "./stores.ts";

/** The command line is invalid: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface OptionSpec {
  /** The placeholder of the value in the help; null for a flag. */
  readonly value: string | null;
  readonly help: string;
  readonly required?: boolean;
}

/** The result of a command. */
export interface Answer {
  /** The output with --json; amounts are JSON number literals. */
  readonly json: Readonly<Record<string, unknown>>;
  /**
   * The output for people, without a line end; null if the command has written its output itself.
   */
  readonly text: string | null;
  /** True if the command worked but found a problem: exit code 1. */
  readonly failed?: boolean;
}

/** The name, arguments and options of a command: the help shows them, and its parser takes them. */
export interface CommandForm {
  /** `account create`. */
  readonly name: string;
  /** The names of the positional arguments, such as `ID`; one in brackets is optional. */
  readonly positionals: readonly string[];
  readonly summary: string;
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** True for a part of another command, which the overview leaves out. */
  readonly isInner?: true;
}

/** A command that works on the stores. */
export interface Command extends CommandForm {
  /** False for a command that must run without Postgres or before a migration. */
  readonly comparesSecrets?: false;
  /** Checks the arguments and returns the function that runs the command. @throws UsageError */
  readonly prepare: (input: Input) => (stores: Stores) => Promise<Answer>;
}

/** A command for an installation that may have no stores yet. */
export interface CommandWithoutStores extends CommandForm {
  /** Checks the arguments and returns the function that runs the command. @throws UsageError */
  readonly prepareAlone: (input: Input) => (around: Surroundings) => Promise<Answer>;
}

/** The process around a command that opens the stores by itself, where they are configured. */
export interface Surroundings {
  readonly environment: Environment;
  readonly now: () => number;
  /** Prints a line for the person, besides the result. */
  readonly say: (line: string) => void;
  /** @throws ConfigError if no stores are configured */
  openStores(): Stores;
}

/** The arguments of one invocation. */
export interface Input {
  readonly positionals: readonly string[];
  /** The values of the options by name; a flag has the value "". */
  readonly values: ReadonlyMap<string, string>;
  readonly json: boolean;
  /** The time by this machine's clock. */
  readonly nowMs: number;
}

export interface ParsedArguments {
  readonly positionals: readonly string[];
  readonly values: ReadonlyMap<string, string>;
  readonly json: boolean;
  readonly help: boolean;
}

/** Parses the arguments after the name of a command. @throws UsageError */
export function parseArguments(command: CommandForm, args: readonly string[]): ParsedArguments {
  const options = Object.fromEntries([
    ...Object.entries(command.options).map(([name, { value }]) => [
      name,
      { type: value === null ? ("boolean" as const) : ("string" as const) },
    ]),
    ["json", { type: "boolean" as const }],
    ["help", { type: "boolean" as const, short: "h" }],
  ]);
  const { positionals, values, tokens } = parse(args, options);
  const names = tokens.flatMap((token) => (token.kind === "option" ? [token.name] : []));
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw new UsageError(`--${repeated} is given more than once`);
  const texts = new Map<string, string>();
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === "string") texts.set(name, value);
    else if (value === true && command.options[name]?.value === null) texts.set(name, "");
  }
  const help = values.help === true;
  if (!help) checkComplete(command, positionals, texts);
  return { positionals, values: texts, json: values.json === true, help };
}

function parse(
  args: readonly string[],
  options: Record<string, { type: "string" | "boolean"; short?: string }>,
) {
  try {
    const given = withNegativeAmounts(args, options);
    return parseArgs({ args: given, options, allowPositionals: true, tokens: true });
  } catch (error) {
    throw usageError(error);
  }
}

/** Turns `--usd -5` into `--usd=-5`, because the parser would take `-5` for an option. */
function withNegativeAmounts(
  args: readonly string[],
  options: Readonly<Record<string, { readonly type: "string" | "boolean" }>>,
): string[] {
  const given: string[] = [];
  for (const arg of args) {
    const option = given.at(-1) ?? "";
    const takesValue = option.startsWith("--") && options[option.slice(2)]?.type === "string";
    if (takesValue && /^-\d/.test(arg)) given[given.length - 1] = `${option}=${arg}`;
    else given.push(arg);
  }
  return given;
}

/** The parser's error without its advice about "--". */
function usageError(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const unknown = /^Unknown option '([^']*)'/.exec(error.message)?.[1];
  if (unknown !== undefined) return new UsageError(`Unknown option ${unknown}`);
  return new UsageError(error.message.replaceAll(/\s*\n/g, " "));
}

function checkComplete(
  command: CommandForm,
  positionals: readonly string[],
  values: ReadonlyMap<string, string>,
): void {
  const missing = command.positionals[positionals.length];
  if (missing !== undefined && !missing.startsWith("[")) {
    throw new UsageError(`'${command.name}' needs ${missing}`);
  }
  const extra = positionals[command.positionals.length];
  if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}'`);
  for (const [name, { required, value }] of Object.entries(command.options)) {
    if (required === true && !values.has(name)) {
      throw new UsageError(`'${command.name}' needs ${optionText(name, value)}`);
    }
  }
}

/** An option as the help shows it. */
export function optionText(name: string, value: string | null): string {
  return value === null ? `--${name}` : `--${name} ${value}`;
}
