// Reads the code blocks of all pages, and says how each block is proven: by the kind of its lines,
// or by a comment above it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../scripts/local/home.mjs";
import { markdownParts } from "../../src/core/text/markdown-parts.ts";

export interface DocBlock {
  readonly page: string;
  readonly line: number;
  /** The language, and the file that it is for. */
  readonly info: string;
  readonly text: string;
  /** The comment right above it; empty without one. */
  readonly comment: string;
  /** True inside a part that `npm run docs` writes. */
  readonly isGenerated: boolean;
}

/** The address of a service in commands for callers. */
export const ANY_SERVICE = "http://127.0.0.1:8080";
const PLACES = ["*.md", "docs/**/*.md", "examples/*.md", "test/*.md", ".github/**/*.md"];
const GENERATED = /<!-- (made by npm run docs|end of)/g;
const COMMENT = /<!-- (.*) -->$/;

/** Every code block of every page. */
export function docBlocks(): readonly DocBlock[] {
  const pages = PLACES.flatMap((place) => [
    ...new Bun.Glob(place).scanSync({ cwd: PROJECT, dot: true }),
  ]);
  return pages.sort().flatMap(blocksOf);
}

function blocksOf(page: string): DocBlock[] {
  const blocks: DocBlock[] = [];
  let line = 1;
  let isGenerated = false;
  let comment = "";
  for (const { info, lines } of markdownParts(readFileSync(join(PROJECT, page), "utf8"))) {
    const text = lines.join("\n");
    if (info === null) {
      const last = [...text.matchAll(GENERATED)].at(-1)?.[1];
      if (last !== undefined) isGenerated = last !== "end of";
      comment = COMMENT.exec(text.trimEnd())?.[1] ?? "";
    } else {
      const inside = lines.slice(1, -1).join("\n");
      blocks.push({ page, line, info, text: inside, comment, isGenerated });
      comment = "";
    }
    line += lines.length;
  }
  return blocks;
}

/** The commands of a block, each in one line, without comments and empty lines. */
export function commandsOf({ text }: DocBlock): readonly string[] {
  // A quoted argument may have several lines.
  const joined = text
    .replaceAll(/\\\n\s*/g, "")
    .replaceAll(/'[^']*'/g, (one) => one.replaceAll("\n", " "));
  return joined
    .split("\n")
    .map((line) => line.replace(/(?:^|\s+)#\s.*$/, "").trim())
    .filter((line) => line !== "");
}

/** True for a command that calls a service. */
export function isCall(command: string): boolean {
  return command.startsWith("curl ") && command.includes(ANY_SERVICE);
}

/** True for a block of commands, whether they can run or not. */
export function hasCommands({ info, isGenerated }: DocBlock): boolean {
  return ["", "sh"].includes(info) && !isGenerated;
}

/** The words of the comment that says why a block does not run; null without such a comment. */
export function reasonNotRun({ comment }: DocBlock): string | null {
  return /^not run: (.*)$/.exec(comment)?.[1] ?? null;
}

/** The file that the comment of a block names as its test; null without such a comment. */
export function testOf({ comment }: DocBlock): string | null {
  return /^tested: (.*)$/.exec(comment)?.[1] ?? null;
}

/** True for a block whose every line test/product/api/doc-commands.test.ts runs. */
export function isRunHere(block: DocBlock): boolean {
  const isMarked = reasonNotRun(block) !== null || testOf(block) !== null;
  if (isMarked || !hasCommands(block)) return false;
  const all = commandsOf(block);
  const isKnown = (one: string) =>
    isCall(one) || toolArguments(one) !== null || one.startsWith("openssl ");
  return all.length > 0 && all.every(isKnown);
}

/** A command in the form in which pages of operators write it, whatever runs the tool. */
export function plainCommand(command: string): string {
  return command.replace(/^npm run (?:-s )?farebox -- /, "farebox ");
}

/** The arguments of a command of the tool; null for any other command. */
export function toolArguments(command: string): readonly string[] | null {
  const [, rest] = /^(?:npm run (?:-s )?farebox -- |farebox )(.*)$/.exec(command) ?? [];
  if (rest === undefined) return null;
  const [line = ""] = rest.split(/ [>|] /);
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}
