// Makes the table of the lines that API and workers log, from the calls of the log in the source.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { table } from "./markdown.ts";

const PROJECT = join(import.meta.dir, "../..");
const CALL = /\blog\??\.(info|warn|error)\(/g;
const FOLDERS = ["src", "actors", "workers"];
/** Messages that are composed elsewhere, by the variable that holds them. */
const MADE: Readonly<Record<string, string>> = {
  warning: "(what is unusual about the settings, or those of Redis)",
  message: "(how many models the configuration file has)",
};

export interface LogLine {
  readonly level: string;
  readonly message: string;
  /** The names of the line's fields, besides those of every line. */
  readonly fields: readonly string[];
}

/** Every line that a process may write, by message. */
export function logLines(): LogLine[] {
  const lines = FOLDERS.flatMap((folder) =>
    readdirSync(join(PROJECT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !/^(cli\/|payments\/providers\/sandbox)/.test(name))
      .flatMap((name) => linesOf(readFileSync(join(PROJECT, folder, name), "utf8"))),
  );
  const merged = new Map<string, LogLine>();
  for (const line of lines) {
    const before = merged.get(line.message);
    const fields = [...new Set([...(before?.fields ?? []), ...line.fields])];
    merged.set(line.message, { ...line, fields });
  }
  return [...merged.values()].sort((a, b) => (a.message < b.message ? -1 : 1));
}

function linesOf(source: string): LogLine[] {
  return [...source.matchAll(CALL)].map((match) => {
    const [fields = "", message = ""] = parts(source.slice(match.index + match[0].length));
    return { level: match[1] ?? "", message: messageOf(message), fields: fieldsOf(fields) };
  });
}

/** The parts between commas, up to the closing bracket. */
function parts(text: string): string[] {
  const found = [""];
  let depth = 0;
  let quote = "";
  for (const letter of text) {
    if (quote !== "") quote = letter === quote ? "" : quote;
    else if (/["'`]/.test(letter)) quote = letter;
    else if (/[([{]/.test(letter)) depth += 1;
    else if (/[)\]}]/.test(letter)) depth -= 1;
    if (depth < 0) break;
    if (letter === "," && depth === 0 && quote === "") found.push("");
    else found[found.length - 1] += letter;
  }
  return found.map((part) => part.trim()).filter((part) => part !== "");
}

/** The text of a message, with `…` for each inserted value. */
function messageOf(code: string): string {
  const text = MADE[code];
  if (text !== undefined) return text;
  if (!/^["`]/.test(code)) throw new Error(`The message of a log line is not in place: ${code}`);
  return code.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, "…");
}

/** The names of an object's members. */
function fieldsOf(code: string): string[] {
  if (!code.startsWith("{")) throw new Error(`The fields of a log line are not in place: ${code}`);
  return parts(code.slice(1)).map((member) => member.split(":", 1)[0]?.trim() ?? "");
}

/** The table for the documentation. */
export function logTable(): string {
  const rows = logLines().map(({ level, message, fields }) => [
    message,
    level,
    fields.map((field) => `\`${field}\``).join(", "),
  ]);
  return table(["line", "level", "fields"], rows);
}
