// Reads the API keys that the configuration file names by their environment variables.

import type { ApiKeys, Fault } from "../core/configuration/section.ts";
import { type Environment, secretOf } from "./environment.ts";
import { ALL_VARIABLES } from "./server-variables.ts";

/** The values of these variables must never be sent anywhere, even if the configuration says so. */
const OWN_VARIABLES: ReadonlySet<string> = new Set(Object.keys(ALL_VARIABLES));

/** Returns the keys of one file, as this environment has them. */
export function apiKeysIn(env: Environment): ApiKeys {
  const faults: Fault[] = [];
  const read = (
    pointer: string,
    variable: string | undefined,
    of: (variable: string, env: Environment) => string,
  ) => {
    if (variable === undefined) return null;
    try {
      return of(variable, env);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      faults.push({ pointer, problem: error.message });
      return null;
    }
  };
  return {
    faults,
    of: (server, variable, field = "api_key_env") => read(`${server}/${field}`, variable, apiKeyOf),
    textOf: (server, variable, field) => read(`${server}/${field}`, variable, secretTextOf),
  };
}

/**
 * Returns the key in a variable, or in the file of `NAME_FILE`. Throws a RangeError without a key.
 */
function apiKeyOf(variable: string, env: Environment): string {
  const key = secretTextOf(variable, env);
  // The message never repeats the key itself.
  if (!/^[\x21-\x7e]{1,4096}$/.test(key)) {
    throw new RangeError(`names '${variable}', whose value cannot be sent as a key`);
  }
  return key;
}

function secretTextOf(variable: string, env: Environment): string {
  if (OWN_VARIABLES.has(variable)) {
    throw new RangeError(`names '${variable}', a setting of Farebox itself`);
  }
  const key = keyText(variable, env).trim();
  if (key === "") {
    // An operator may have written the key itself in this place: it must not get into a log.
    const shown = /^[A-Z_][A-Z0-9_]*$/.test(variable) ? ` '${variable}'` : "";
    throw new RangeError(`names an environment variable${shown} that is not set`);
  }
  return key;
}

function keyText(variable: string, env: Environment): string {
  try {
    return secretOf(variable, env).text ?? "";
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RangeError(`cannot be read: ${error.message}`, { cause: error });
  }
}
