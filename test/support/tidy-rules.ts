// Checks single files for what biome.json cannot say: names, lines, comments and Lua.

import { lineAt, type SourceFile, viewOf } from "./tidy-source.ts";

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

/** Lines that are too long. In Markdown, tables, links and code may be longer. */
export const longLine: Rule = ({ path, text }) => {
  const isProse = path.endsWith(".md");
  const most = isProse ? PROSE_COLUMNS_MAX : COLUMNS_MAX;
  let fenced = false;
  return text.split("\n").flatMap((line, index) => {
    if (line.startsWith("```")) fenced = !fenced;
    if (isProse && (fenced || line.startsWith("|") || line.includes("](http"))) return [];
    if ([...line].length <= most) return [];
    return [`${path}:${index + 1} is longer than ${most} columns`];
  });
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
  if (file.path.endsWith(".md")) return [];
  const pattern = /\b(?:TODO|FIXME|XXX|HACK)\b(?!\s?\(?#\d)/g;
  return findAll(file, viewOf(file).comments, pattern, "name an issue, as in TODO #12");
};

const DEAD_SCRIPT = [
  /^(?:import|export|const|let|var|return|await|throw|if|for|while|function|class|type)\b.*[;{]$/,
  /^[\w.]+\([^)]*\);$/,
  /^[\w.]+ (?:=|\+=) .*;$/,
  /^\}\)?;?$/,
];
const DEAD_LUA = [/^local \w+\s*=/, /^(?:return )?redis\.call\(/, /^if .* then$/, /^end$/];

/** Code that is commented out. */
export const commentedOutCode: Rule = (file) => {
  if (file.path.endsWith(".md")) return [];
  const patterns = file.path.endsWith(".lua") ? DEAD_LUA : DEAD_SCRIPT;
  return viewOf(file)
    .comments.split("\n")
    .flatMap((line, index) => {
      const said = line.trim().replace(/^(?:\/\/+|\/?\*+|--)\s?/, "");
      const isCode = patterns.some((pattern) => pattern.test(said.trim()));
      return isCode ? [`${file.path}:${index + 1} is commented-out code`] : [];
    });
};

/** Lua scripts whose head does not document purpose, KEYS, ARGV and reply. */
export const luaWithoutHead: Rule = ({ path, text }) => {
  if (!path.endsWith(".lua")) return [];
  const head = /^(?:--[^\n]*\n)+/.exec(text)?.[0] ?? "";
  if (!/^--\s*\w/.test(head)) return [`${path} does not begin with its purpose`];
  // Shared code that is prepended to scripts is not a script.
  if (/\/(prelude|records|wallet|limits|first_layout_window)\.lua$/.test(path)) return [];
  return ["KEYS", "ARGV", "Reply"]
    .filter((word) => !new RegExp(`^--\\s*${word}\\b`, "m").test(head))
    .map((word) => `${path} does not say its ${word}`);
};

/** Money that Lua would print as 1e+14. */
export const luaMoneyAsText: Rule = (file) => {
  if (!file.path.endsWith(".lua")) return [];
  const pattern =
    /\b\w*_nano\b\s*\.\.|\.\.\s*\w*_nano\b|\b(?:tostring|cjson\.encode)\(\s*\w*_nano\b/g;
  return findAll(file, viewOf(file).code, pattern, "print money with the prelude's money()");
};

function findAll(file: SourceFile, view: string, pattern: RegExp, message: string): string[] {
  return [...view.matchAll(pattern)].map((match) => {
    return `${file.path}:${lineAt(view, match.index)} '${match[0].trim()}': ${message}`;
  });
}
