// Reads a table of environment variables: each is checked by its kind, and every variable that is
// missing or wrong is named in one error.

import { readFileSync } from "node:fs";
import { StartError } from "../core/start-error.ts";
import { textOfBytes } from "../core/text/text-bytes.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Turns the text of a variable into a value. */
export interface Kind<T> {
  /** The range of values in the documentation, such as "0 to 65535". */
  readonly range?: string;
  /** Throws a RangeError whose message continues the name of the variable with its rule. */
  readonly parse: (text: string) => T;
}

export interface Variable {
  readonly kind: Kind<unknown>;
  /** The effect of the variable: Markdown, for the documentation. */
  readonly about: string;
  /** The value, as text, if the variable is not set; without a default the value is null. */
  readonly default?: string;
  readonly required?: true;
  /** The default in the documentation, if `default` alone does not describe it. */
  readonly shown?: string;
  /** True for a value that appears in no message; `NAME_FILE` may name a file that holds it. */
  readonly isSecret?: true;
}

export type Variables = Readonly<Record<string, Variable>>;

export type Values<T extends Variables> = {
  readonly [Name in keyof T]: T[Name] extends { default: string } | { required: true }
    ? ValueOf<T[Name]>
    : ValueOf<T[Name]> | null;
};

type ValueOf<V extends Variable> = ReturnType<V["kind"]["parse"]>;

/** The error for variables that are missing or wrong; the message is for the operator. */
export class ConfigError extends StartError {
  override readonly name = "ConfigError";
}

/**
 * The values of all variables of a table. An empty variable counts as not set.
 * @throws ConfigError with a line for each variable that is missing or wrong.
 */
export function readVariables<T extends Variables>(table: T, env: Environment): Values<T> {
  const problems: string[] = [];
  const values = Object.entries(table).map(([name, variable]) => {
    try {
      return [name, readVariable(name, variable, env)];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      problems.push(error.message);
      return [name, null];
    }
  });
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return Object.freeze(Object.fromEntries(values)) as Values<T>;
}

function readVariable(name: string, variable: Variable, env: Environment): unknown {
  const { source, text } = variable.isSecret
    ? secretOf(name, env)
    : { source: name, text: env[name] || null };
  if (text === null) {
    if (variable.required) throw new RangeError(`${name} is not set; \`npm start\` sets it`);
    return variable.default === undefined ? null : variable.kind.parse(variable.default);
  }
  try {
    return variable.kind.parse(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const value = variable.isSecret ? "" : `, but is '${text}'`;
    throw new RangeError(`${source} ${error.message}${value}`);
  }
}

/**
 * Returns a secret, from the variable or from the file that `NAME_FILE` names, and which of the two
 * it came from; null if neither is set. Throws a RangeError without the secret.
 */
export function secretOf(
  name: string,
  env: Environment,
): { readonly source: string; readonly text: string | null } {
  const file = `${name}_FILE`;
  const path = env[file];
  if (!path) return { source: name, text: env[name] || null };
  if (env[name]) throw new RangeError(`${name} and ${file} are both set; set one of them`);
  const text = fileText(file, path).replace(/\r?\n$/, "");
  if (text.trim() === "") throw new RangeError(`${file} names '${path}', which is empty`);
  return { source: file, text };
}

function fileText(variable: string, path: string): string {
  try {
    return textOfBytes(readFileSync(path));
  } catch {
    throw new RangeError(`${variable} names '${path}', which cannot be read`);
  }
}
