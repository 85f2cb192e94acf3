// What a command is, and how its words are read. Everything that is wrong with them is told by name
// before anything is opened.

import { parseArgs } from "node:util";
import type { Stores } from "./stores.ts";

/** The command line itself is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface OptionSpec {
  /** What stands after the option in the help; null for a flag, which takes no value. */
  readonly value: string | null;
  readonly help: string;
  readonly required?: boolean;
}

export interface Answer {
  /** The answer of --json; amounts are JSON number literals. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The answer for a person, without a line end; null where it went out already. */
  readonly text: string | null;
  /** True when the command did its work and what it found is bad: exit code 1. */
  readonly failed?: boolean;
}

export interface Command {
  /** `account create`. */
  readonly name: string;
  /** The names of its plain arguments, as `ID`; one in brackets may be left out. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** False for a command that also runs without Postgres, or before it is migrated. */
  readonly comparesSecrets?: false;
  /** Checks the words and returns what is to be done. @throws UsageError */
  readonly plan: (input: Input) => (stores: Stores) => Promise<Answer>;
}

/** The words of one invocation. */
export interface Input {
  readonly words: readonly string[];
  /** A flag that is given has the value "". */
  readonly values: ReadonlyMap<string, string>;
  readonly json: boolean;
  /** The time by this machine's clock. */
  readonly nowMs: number;
}

export interface Parsed {
  readonly words: readonly string[];
  readonly values: ReadonlyMap<string, string>;
  readonly json: boolean;
  readonly help: boolean;
}

/** Reads the words behind a command's name. @throws UsageError */
export function parseWords(command: Command, args: readonly string[]): Parsed {
  const options = Object.fromEntries([
    ...Object.entries(command.options).map(([name, { value }]) => [
      name,
      { type: value === null ? ("boolean" as const) : ("string" as const) },
    ]),
    ["json", { type: "boolean" as const }],
    ["help", { type: "boolean" as const, short: "h" }],
  ]);
  const { positionals, values, tokens } = parsed(args, options);
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
  return { words: positionals, values: texts, json: values.json === true, help };
}

function parsed(
  args: readonly string[],
  options: Record<string, { type: "string" | "boolean"; short?: string }>,
) {
  try {
    const given = withNegativeAmounts(args, options);
    return parseArgs({ args: given, options, allowPositionals: true, tokens: true });
  } catch (error) {
    throw wrongWords(error);
  }
}

/** `--usd -5` as `--usd=-5`: the parser takes what begins with a dash for another option. */
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

/** The parser's own words, without its advice about "--". */
function wrongWords(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const unknown = /^Unknown option '([^']*)'/.exec(error.message)?.[1];
  if (unknown !== undefined) return new UsageError(`There is no option ${unknown} here`);
  return new UsageError(error.message.replaceAll(/\s*\n/g, " "));
}

function checkComplete(
  command: Command,
  words: readonly string[],
  values: ReadonlyMap<string, string>,
): void {
  const missing = command.words[words.length];
  if (missing !== undefined && !missing.startsWith("[")) {
    throw new UsageError(`'${command.name}' needs ${missing}`);
  }
  const extra = words[command.words.length];
  if (extra !== undefined) throw new UsageError(`'${extra}' is one word too many`);
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
