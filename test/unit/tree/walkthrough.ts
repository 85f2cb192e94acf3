// Reads the steps of a walkthrough from a Markdown page: fenced blocks whose info string has a
// path. A `diff` block changes a file at the only place with its lines; any other block is a new
// file.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Step {
  readonly path: string;
  readonly kind: "new" | "diff";
  readonly text: string;
}

/** The steps below a heading, in order. */
export function readSteps(markdown: string, heading: string): Step[] {
  const start = markdown.indexOf(`\n## ${heading}\n`);
  if (start < 0) throw new Error(`There is no heading '${heading}'`);
  const end = markdown.indexOf("\n## ", start + 1);
  const part = markdown.slice(start, end < 0 ? undefined : end);
  return [...part.matchAll(/^```(\w+) (\S+)\n([\s\S]*?)^```$/gm)].map(
    ([, language, path = "", text = ""]) => {
      return { path, kind: language === "diff" ? "diff" : "new", text };
    },
  );
}

/** Applies a step to the files of a folder. Throws unless its place exists exactly once. */
export function applyStep(folder: string, { path, kind, text }: Step): void {
  const file = join(folder, path);
  if (kind === "new") {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return;
  }
  const lines = text.split("\n").slice(0, -1);
  const without = (sign: string) =>
    lines.filter((line) => !line.startsWith(sign)).map((line) => `${line.slice(1)}\n`);
  const [before, after] = [without("+").join(""), without("-").join("")];
  const places = readFileSync(file, "utf8").split(before);
  if (places.length !== 2) {
    throw new Error(`${path} has ${places.length - 1} places for a step, not 1:\n${before}`);
  }
  writeFileSync(file, places.join(after));
}
