// Checks single files for faults that the linter does not read: names, lines, comments and Lua.

import type { SourceFile } from "./tidy-source.ts";

type Rule = (file: SourceFile) => string[];

const LUA_LINES_MAX = 300;
const COLUMNS_MAX = 100;
const PROSE_COLUMNS_MAX = 120;

/** Lua files with too many lines. */
export const longLua: Rule = ({ path, text }) => {
  if (!path.endsWith(".lua")) return [];
  const lines = text.trimEnd().split("\n").length;
  return lines > LUA_LINES_MAX ? [`${path} has ${lines} lines; at most ${LUA_LINES_MAX}`] : [];
};

/** A line that imports a file cannot be wrapped. */
const IMPORTED_PATH = /^(?:import .*|\} )from "[^"]+";$|\bimport\("/;

/** Lines that are too long. In Markdown, tables, links and code may be longer. */
export const longLine: Rule = ({ path, text }) => {
  const isProse = path.endsWith(".md");
  const most = isProse ? PROSE_COLUMNS_MAX : COLUMNS_MAX;
  let fenced = false;
  return text.split("\n").flatMap((line, index) => {
    if (line.startsWith("```")) fenced = !fenced;
    if (isProse && (fenced || line.startsWith("|") || line.includes("](http"))) return [];
    if ([...line].length <= most || IMPORTED_PATH.test(line)) return [];
    return [`${path}:${index + 1} is longer than ${most} columns`];
  });
};

/** Tables of Markdown with two heads: a merge has joined two versions of one. */
export const joinedTables: Rule = ({ path, text }) => {
  if (!path.endsWith(".md")) return [];
  const tables = text.match(/(?:^\|.*\n)+/gm) ?? [];
  const heads = (table: string) => table.match(/^\|(?: *:?-+:? *\|)+$/gm) ?? [];
  const joined = tables.filter((table) => heads(table).length > 1);
  return joined.map((table) => `${path}: the table ${table.split("\n", 1)} begins twice`);
};

/** File names that say nothing, and Lua files that are not in snake_case. */
export const badFileName: Rule = ({ path }) => {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (/^(?:index|utils?|helpers?|common|misc|manager)\.(?!md$)/.test(name)) {
    return [`${path} should be named after what it exports`];
  }
  const isLua = name.endsWith(".lua");
  return isLua && !/^[a-z0-9_]+\.lua$/.test(name) ? [`${path} is not in snake_case`] : [];
};

/** Markers of unfinished work that name no issue. */
export const todoWithoutIssue: Rule = (file) => {
  const unnamed = /\b(?:TODO|FIXME|XXX|HACK)\b(?!\s?\(?#\d)/;
  return commentLines(file)
    .filter(({ text }) => unnamed.test(text))
    .map(({ at, text }) => `${at} '${text}': name an issue, as in TODO #12`);
};

const DEAD_SCRIPT = [
  /^(?:import|export|const|let|var|return|await|throw|if|for|while|function|class|type)\b.*[;{]$/,
  /^[\w.]+\([^)]*\);$/,
  /^[\w.]+ (?:=|\+=) .*;$/,
  /^\}\)?;?$/,
];
const DEAD_LUA = [/^local \w+\s*=/, /^(?:return )?redis[._]call\(/, /^if .* then$/, /^end$/];

/** Code that is commented out. */
export const commentedOutCode: Rule = (file) => {
  const patterns = file.path.endsWith(".lua") ? DEAD_LUA : DEAD_SCRIPT;
  return commentLines(file)
    .filter(({ text }) => patterns.some((pattern) => pattern.test(text)))
    .map(({ at }) => `${at} is commented-out code`);
};

const SHARED_LUA = /\/shared\/\w+\.lua$/;

/** Lua scripts whose head does not document purpose, KEYS, ARGV and reply. */
export const luaWithoutHead: Rule = ({ path, text }) => {
  if (!path.endsWith(".lua")) return [];
  const head = /^(?:--[^\n]*\n)+/.exec(text)?.[0] ?? "";
  if (!/^--\s*\w/.test(head)) return [`${path} does not begin with its purpose`];
  // Shared code that is prepended to scripts is not a script.
  if (SHARED_LUA.test(path)) return [];
  return ["KEYS", "ARGV", "Reply"]
    .filter((word) => !new RegExp(`^--\\s*${word}\\b`, "m").test(head))
    .map((word) => `${path} does not say its ${word}`);
};

/** Money that Lua would print as 1e+14. */
export const luaMoneyAsText: Rule = ({ path, text }) => {
  if (!path.endsWith(".lua")) return [];
  const joined =
    /\b\w*_nano\b\s*\.\.|\.\.\s*\w*_nano\b|\b(?:tostring|cjson\.encode)\(\s*\w*_nano\b/g;
  const code = text.replaceAll(/^\s*--.*/gm, "");
  return [...code.matchAll(joined)].map(
    ([found]) => `${path} '${found}': print money with the prelude's money()`,
  );
};

// A comment follows a blank or a bracket, so that no address and no pattern of files counts as one.
const SCRIPT_COMMENT = /(?<=^|[\s{([])(?:\/\/.*|\/\*[\s\S]*?\*\/)/gm;
const LUA_COMMENT = /--(?:\[\[[\s\S]*?\]\]|.*)/g;

/** The lines of a file's comments without their marks, and the place of each. */
function commentLines({ path, text }: SourceFile): { at: string; text: string }[] {
  if (path.endsWith(".md")) return [];
  const comments = text.matchAll(path.endsWith(".lua") ? LUA_COMMENT : SCRIPT_COMMENT);
  return [...comments].flatMap(({ 0: comment, index }) => {
    const first = text.slice(0, index).split("\n").length;
    return comment.split("\n").map((line, below) => ({
      at: `${path}:${first + below}`,
      text: line.trim().replace(/^(?:\/\/+|\/?\*+|--)\s*/, ""),
    }));
  });
}

/** The first words of a function or method, and all of it to the brace that ends it. */
const HEAD = "^( {2})?(?:(?:export|async|static|override|function) |\\*)*[#\\w]+(?:<.*>)?\\(";
const FUNCTION = new RegExp(`${HEAD}.*\\n(?:.*\\n)*?\\1\\}$`, "gm");
const DRIZZLE = /\b(?:tx|db|queries)\s*\.(?:select|selectDistinct|insert|update|delete)\(/;
const TAGGED = /\.execute(?:<[^(]*>)?\((?!\))|\.unsafe\(|\btx(?:<[^`]*>)?`/;

/** Functions of the store with statements of drizzle beside those in tagged SQL. */
export const mixedDialects: Rule = ({ path, text }) => {
  if (!path.startsWith("src/store/")) return [];
  const functions = [...text.matchAll(FUNCTION)].map(([code]) => code);
  return functions
    .filter((code) => DRIZZLE.test(code) && TAGGED.test(code))
    .map((code) => `${path}: ${code.slice(0, code.indexOf("\n")).trim()} mixes two dialects`);
};

/**
 * Functions that may have more than three positional parameters. The linter refuses any other one;
 * the reason of each stands beside it.
 */
export const WIDE_FUNCTIONS: ReadonlySet<string> = new Set([
  "actors/redis/resp-client.ts fcall",
  "actors/redis/resp-connection.ts writeLength",
  "actors/redis/script-client.ts fcall",
  "actors/scripts/script-run.ts constructor",
  "src/core/deadlines.ts constructor",
  "src/http/frame.ts answerError",
  "src/http/frame.ts callOf",
  "src/http/respond.ts responseOf",
  "src/upstream/http/http-exchange.ts #give",
]);

const WIDE = /lint\/complexity\/useMaxParams.*\n(?:.* )?([#\w]+)(?: = .*)?(?:<.*>)?\(/g;

/** The functions of a file that the linter lets pass with more parameters. */
export function wideNames(text: string): string[] {
  return [...text.matchAll(WIDE)].map(([, name = ""]) => name);
}

/** Functions that the linter lets pass with more parameters, although the list lacks them. */
export const wideFunctions: Rule = ({ path, text }) => {
  if (path.startsWith("test/")) return [];
  return wideNames(text)
    .map((name) => `${path} ${name}`)
    .filter((found) => !WIDE_FUNCTIONS.has(found))
    .map((found) => `${found} takes more than three parameters: give it an object`);
};

const ROOM = /^(?:src|actors|workers|dashboard\/src)(?:\/|$)/;
/** A folder with more files is hard to survey. */
const FILES_MAX = 30;

/** Folders without a line in ARCHITECTURE, lines without a folder, and folders that are full. */
export function rooms(files: readonly SourceFile[]): string[] {
  const page = files.find(({ path }) => path === "docs/ARCHITECTURE.md")?.text ?? "";
  const named = new Set([...page.matchAll(/^\| `([^`]+)\/` +\|/gm)].map(([, room = ""]) => room));
  const found = new Map<string, number>();
  for (const { path } of files) {
    const room = path.slice(0, path.lastIndexOf("/"));
    if (ROOM.test(room)) found.set(room, (found.get(room) ?? 0) + 1);
  }
  return [
    ...[...found.keys()].filter((room) => !named.has(room)).map((room) => `${room} has no line`),
    ...[...named].filter((room) => !found.has(room)).map((room) => `${room} is not there`),
    ...[...found]
      .filter(([, count]) => count > FILES_MAX)
      .map(([room, count]) => `${room} has ${count} files; at most ${FILES_MAX}`),
  ];
}
