// Checks single files: sizes, names, comments, and code that only one file may contain.

import { isScript, lineAt, type SourceFile, viewOf } from "./tidy-source.ts";

type Rule = (file: SourceFile) => string[];

const FUNCTION_LINES_MAX = 70;
const FILE_LINES_MAX = 300;
const TEST_LINES_MAX = 500;
const COLUMNS_MAX = 100;
const PROSE_COLUMNS_MAX = 120;

/** Code that only some files may contain. */
interface Owned {
  readonly pattern: RegExp;
  /** The files to which the rule applies. */
  readonly within: RegExp;
  readonly owners: RegExp;
  readonly message: string;
  readonly view?: "code" | "uncommented";
}

const PRODUCT = /^(src|actors|workers)\//;
const ROOTS = /^(src\/main|workers\/main|src\/cli\/main)\.ts$/;

const OWNED: readonly Owned[] = [
  {
    pattern: /\b(?:process\.env|Bun\.env|import\.meta\.env)\b/g,
    within: PRODUCT,
    owners: /^src\/settings\/config\.ts$/,
    message: "only src/settings/config.ts reads the environment",
  },
  {
    pattern: anyOf(
      /\b(?:Date|performance)\.now\b/,
      /\bMath\.random\b/,
      /\bcrypto\.(?:randomUUID|getRandomValues)\b/,
      /\bnew Date\(\)/,
    ),
    within: PRODUCT,
    owners: ROOTS,
    message: "clock and randomness are passed in from the composition roots",
  },
  {
    pattern: anyOf(
      /\bsql`/,
      /\bSELECT\s[^;"`]*\sFROM\s/,
      /\b(?:INSERT\s+INTO|DELETE\s+FROM|UPDATE\s+\w+\s+SET)\s/,
      /\b(?:CREATE|ALTER|DROP)\s+(?:TABLE|INDEX|DATABASE)\s/,
    ),
    within: PRODUCT,
    // A provider may query its own data file, which is not Postgres.
    owners: /^src\/(?:store|services\/\w+\/providers|upstream)\//,
    message: "SQL belongs into src/store",
    view: "uncommented",
  },
  {
    // The definition of a method named fetch, as servers have it, is not an outgoing request.
    pattern: /(?<![.\w])(?:globalThis\.)?fetch\((?![^()\n]*\)\s*(?::[^\n]*)?\{\s*$)/gm,
    within: PRODUCT,
    owners: /^src\/(?:(?:services\/\w+|payments)\/providers|upstream)\//,
    message: "outgoing requests belong into the providers folder of a service",
  },
  {
    pattern: /\bstatus(?:Code)?\s*(?::|=|[=!]==?|[<>]=?)\s*[1-5]\d\d\b/g,
    within: PRODUCT,
    // A provider reads the status of its upstream.
    owners:
      /^src\/(?:core\/\S*errors\.ts$|http\/|(?:services\/\w+|payments)\/providers\/|upstream\/)/,
    message: "status numbers belong into src/core/errors.ts and src/http",
  },
  {
    pattern: /\bconsole\.\w+/g,
    within: PRODUCT,
    owners: /^src\/cli\//,
    message: "use the logger",
  },
  {
    pattern: /\b(?:Bun\.sleep|setTimeout)\(/g,
    within: /^test\/.*\.test\.ts$/,
    // These watch processes over time.
    owners: /^test\/(?:actors|chaos|model)\/|^test\/workers\/sweep/,
    message: "wait for the condition (test/support/eventually.ts) or pass the time in",
  },
  {
    pattern: /\bexport default\b/g,
    within: /^[^/]+\//,
    owners: /^$/,
    message: "export by name",
  },
];

/** Code that is outside the files that may contain it. */
export const outsideOwner: Rule = (file) => {
  if (!isScript(file)) return [];
  return OWNED.filter(
    ({ within, owners }) => within.test(file.path) && !owners.test(file.path),
  ).flatMap((owned) =>
    findAll(file, viewOf(file)[owned.view ?? "code"], owned.pattern, owned.message),
  );
};

/** Files with too many lines. */
export const longFile: Rule = ({ path, text }) => {
  if (path.endsWith(".md")) return [];
  const lines = text.trimEnd().split("\n").length;
  const most = path.startsWith("test/") ? TEST_LINES_MAX : FILE_LINES_MAX;
  return lines > most ? [`${path} has ${lines} lines; at most ${most}`] : [];
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

/** Functions with too many lines. A `describe` does not count as a function. */
export const longFunction: Rule = (file) => {
  if (!isScript(file)) return [];
  const { code } = viewOf(file);
  const open: number[] = [];
  const complaints: string[] = [];
  for (let at = 0; at < code.length; at += 1) {
    if (code[at] === "{") open.push(at);
    if (code[at] !== "}") continue;
    const start = open.pop();
    if (start === undefined || !isFunctionBody(code, start)) continue;
    const first = lineAt(code, start);
    const lines = lineAt(code, at) - first + 1;
    if (lines <= FUNCTION_LINES_MAX) continue;
    complaints.push(`${file.path}:${first} has a function of ${lines} lines; at most 70`);
  }
  return complaints;
};

function isFunctionBody(code: string, brace: number): boolean {
  const before = code.slice(0, brace).trimEnd();
  if (before.endsWith("=>")) return !/\bdescribe(?:\.\w+)*\([^;]*$/.test(lastLine(before));
  const end = /\)(?:\s*:[^;{}()=]*)?$/.exec(before);
  if (end === null) return false;
  let depth = 0;
  for (let at = end.index; at >= 0; at -= 1) {
    if (before[at] === ")") depth += 1;
    if (before[at] === "(") depth -= 1;
    if (depth > 0) continue;
    return !/\b(?:if|for|while|switch|catch|await)\s*$/.test(before.slice(0, at));
  }
  return false;
}

function lastLine(text: string): string {
  return text.slice(text.lastIndexOf("\n") + 1);
}

/** File names that are meaningless or not in kebab-case. */
export const badFileName: Rule = ({ path }) => {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (path.endsWith(".md")) return [];
  if (/^(?:index|utils?|helpers?|common|misc|manager)\./.test(name)) {
    return [`${path} should be named after what it exports`];
  }
  // Lua code and Lua files use snake_case.
  const pattern = name.endsWith(".lua") ? /^[a-z0-9_]+\.lua$/ : /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/;
  return pattern.test(name) ? [] : [`${path} is not in kebab-case`];
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

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join("|"), "g");
}
