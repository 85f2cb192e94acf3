// The project's files for tidy.test.ts, and views of them without comments or strings, in which
// every character keeps its offset.

import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface SourceFile {
  /** The path from the project's folder, with "/". */
  readonly path: string;
  readonly text: string;
}

export interface View {
  /** Comments and the insides of strings are blank. */
  readonly code: string;
  /** Only comments are blank. */
  readonly uncommented: string;
  /** Everything but comments is blank. */
  readonly comments: string;
}

const ROOT = join(import.meta.dir, "../..");
const PATTERNS = [
  "*.{ts,md}",
  "{src,actors,workers,scripts,bench,test,docs,migrations,dashboard}/**/*.{ts,tsx,mts,mjs,lua,md}",
];

/** Every file that is checked. */
export function readTree(): SourceFile[] {
  const paths = PATTERNS.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })]);
  return paths
    .filter((path) => !path.includes("node_modules/"))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}

/** True for a program of any of the project's languages but Lua. */
export function isScript({ path }: SourceFile): boolean {
  return /\.(ts|tsx|mts|mjs)$/.test(path);
}

/** The line number of an offset, from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

const views = new WeakMap<SourceFile, View>();

/** The views of a file. */
export function viewOf(file: SourceFile): View {
  const known = views.get(file);
  if (known !== undefined) return known;
  const kinds = file.path.endsWith(".lua") ? luaKinds(file.text) : scriptKinds(file.text);
  const view = {
    code: keep(file.text, kinds, (kind) => kind === "code"),
    uncommented: keep(file.text, kinds, (kind) => kind !== "comment"),
    comments: keep(file.text, kinds, (kind) => kind === "comment"),
  };
  views.set(file, view);
  return view;
}

type Kind = "code" | "comment" | "string";

interface Span {
  readonly kind: Kind;
  readonly end: number;
}

function keep(text: string, spans: readonly Span[], wanted: (kind: Kind) => boolean): string {
  let start = 0;
  let kept = "";
  for (const { kind, end } of spans) {
    const part = text.slice(start, end);
    kept += wanted(kind) ? part : part.replace(/[^\n]/g, " ");
    start = end;
  }
  return kept;
}

// Sticky patterns, tried in order at each offset. Text that no pattern matches is code.
const LUA_TOKENS: readonly (readonly [Kind, RegExp])[] = [
  ["comment", /--\[\[[\s\S]*?\]\]/y],
  ["comment", /--[^\n]*/y],
  ["string", /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\[\[[\s\S]*?\]\]/y],
];

function luaKinds(text: string): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at < text.length; ) {
    const token = take(LUA_TOKENS, text, at) ?? { kind: "code" as const, end: at + 1 };
    spans.push(token);
    at = token.end;
  }
  return spans;
}

const SCRIPT_TOKENS: readonly (readonly [Kind, RegExp])[] = [
  // The end of an element in JSX begins no regular expression.
  ["code", /\/>/y],
  ["comment", /\/\/[^\n]*|\/\*[\s\S]*?\*\/|#![^\n]*/y],
  ["string", /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/y],
];
const REGEX = /\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
// A slash after one of these starts a regular expression; after anything else it is a division.
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+>]|\breturn|\bcase|\btypeof)\s*$/;

function scriptKinds(text: string): Span[] {
  const spans: Span[] = [];
  // For each open template literal, the brace depth at which it continues.
  const templates: number[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    const letter = text[at];
    let token = take(SCRIPT_TOKENS, text, at) ?? regexAt(text, at);
    if (letter === "`" || (letter === "}" && templates.at(-1) === depth)) {
      if (letter === "}") templates.pop();
      const end = templateEnd(text, at + 1);
      if (text[end - 1] === "{") templates.push(depth);
      token = { kind: "string", end };
    } else if (token === null) {
      if (letter === "{") depth += 1;
      if (letter === "}") depth -= 1;
      token = { kind: "code", end: at + 1 };
    }
    spans.push(token);
    at = token.end;
  }
  return spans;
}

/** The end of a template literal's text: after its "`", or after the next "${". */
function templateEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "`") return at + 1;
    else if (text[at] === "$" && text[at + 1] === "{") return at + 2;
  }
  return text.length;
}

function regexAt(text: string, at: number): Span | null {
  if (text[at] !== "/" || !BEFORE_REGEX.test(text.slice(Math.max(0, at - 40), at))) return null;
  return take([["string", REGEX]], text, at);
}

function take(tokens: readonly (readonly [Kind, RegExp])[], text: string, at: number): Span | null {
  for (const [kind, pattern] of tokens) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) return { kind, end: at + match[0].length };
  }
  return null;
}
