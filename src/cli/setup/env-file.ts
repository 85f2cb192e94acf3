// Reads and changes a file of environment variables in the form that a shell, systemd and `npm
// start` read alike: a name, and its value in single quotes.

import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import { textOfBytes } from "../../core/text/text-bytes.ts";

const UNQUOTABLE = /['\r\n\0]/;

/** The text of the file; "" if there is none yet. */
export async function readEnvFile(path: string): Promise<string> {
  try {
    return textOfBytes(await readFile(path));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}

/** The variables of a file. */
export function variablesIn(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(parseEnv(text)).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
}

/** The text with these variables; every other line stays as it is. */
export function withVariables(text: string, changes: ReadonlyMap<string, string>): string {
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const left = new Map(changes);
  const changed = lines.map((line) => {
    const name = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/.exec(line)?.[1] ?? "";
    const value = changes.get(name);
    if (value === undefined) return line;
    left.delete(name);
    return variableLine(name, value);
  });
  const added = [...left].map(([name, value]) => variableLine(name, value));
  return [...changed, ...added].map((line) => `${line}\n`).join("");
}

/** A value that the file can hold. @throws RangeError */
export function quotable(value: string): string {
  if (!UNQUOTABLE.test(value)) return value;
  throw new RangeError("must be one line without '; in an address write %27 for it");
}

function variableLine(name: string, value: string): string {
  return `${name}='${quotable(value)}'`;
}
