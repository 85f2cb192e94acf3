// Checks habits of this project that the linter cannot check. Each rule is shown to refuse bad
// samples and to pass good ones, then it is run on the tree.

import { describe, expect, test } from "bun:test";
import { importCircles, neverImported, wrongArrows } from "./tidy-imports.ts";
import * as rules from "./tidy-rules.ts";
import { readTree, type SourceFile } from "./tidy-source.ts";

/** A small tree: the texts of its files by their paths. */
type Sample = Readonly<Record<string, string>>;

const tree = readTree();

/** Each bad sample must cause exactly one complaint, each good one and the tree none. */
function holds(
  name: string,
  rule: (files: readonly SourceFile[]) => string[],
  samples: { bad: readonly Sample[]; good: readonly Sample[] },
): void {
  const complaints = (sample: Sample) =>
    rule(Object.entries(sample).map(([path, text]) => ({ path, text })));
  test(`${name}: bad samples are refused`, () => {
    expect(samples.bad.filter((bad) => complaints(bad).length !== 1)).toEqual([]);
  });
  test(`${name}: good samples pass`, () => {
    expect(samples.good.flatMap(complaints)).toEqual([]);
  });
  test(`${name}: the tree passes`, () => {
    expect(rule(tree)).toEqual([]);
  });
}

const each = (rule: (file: SourceFile) => string[]) => (files: readonly SourceFile[]) =>
  files.flatMap(rule);

/** Samples of one file each: the same file with each of these texts. */
const file = (path: string, texts: readonly string[]) => texts.map((text) => ({ [path]: text }));
const lua = (...texts: readonly string[]) => file("actors/lua/a.lua", texts);
const script = (...texts: readonly string[]) => file("src/core/a.ts", texts);
const prose = (...texts: readonly string[]) => file("README.md", texts);
const empty = (...paths: readonly string[]) => paths.map((path) => ({ [path]: "" }));

/** Samples of two files each: in every line a file, and those that it imports in turn. */
function importing(lines: string, statement = (to: string) => `import { a } from "${to}";`) {
  return lines.split("\n").flatMap((line): Sample[] => {
    const [path = "", ...targets] = line.trim().split(/ (?:->)? */);
    const up = "../".repeat(path.split("/").length - 1) || "./";
    return targets.map((target) => ({ [path]: statement(up + target), [target]: "" }));
  });
}

const byType = (to: string) => `import type { A } from "${to}";`;
const whileRunning = (to: string) => `const a = await import("${to}");`;

test("the tree is read", () => {
  const paths = tree.map(({ path }) => path);
  expect(paths).toContain("src/core/money/money.ts");
  expect(paths).toContain("scripts/start.mjs");
});

describe("imports", () => {
  holds("imports only go down", wrongArrows, {
    bad: [
      ...importing(`
        actors/account.ts -> test/support/stores/services.ts
        dashboard/src/a.tsx -> src/console/a-schema.ts
        src/account/me.ts -> src/app.ts src/application/chat.ts src/settings/config.ts
        src/accounts/audit.ts -> src/account/me.ts
        src/app.ts -> src/main.ts
        src/calls/chat.ts -> src/http/body.ts
        src/cli/main.ts -> src/app.ts
        src/console/keys.ts -> src/operator/accounts.ts
        src/core/money/money.ts -> src/http/body.ts
        src/http/a.ts -> dashboard/src/a.ts
        src/services/chat/chat.ts -> src/accounts/audit.ts src/services/mail/mail.ts
        src/store/a.ts -> actors/account.ts src/upstream/fallback.ts
        src/upstream/chat.ts -> src/store/wallets.ts
        workers/flush.ts -> src/app.ts workers/main.ts
      `),
      ...importing("src/core/a.ts -> src/store/b.ts", whileRunning),
      ...importing("src/core/a.ts -> src/store/b.ts", byType),
      ...empty("src/elsewhere.ts"),
    ],
    good: [
      ...importing(`
        src/account/me.ts -> src/calls/chat.ts
        src/app.ts -> src/account/me.ts src/operator/accounts.ts
        src/calls/chat.ts -> actors/account.ts
        src/cli/main.ts -> src/accounts/audit.ts
        src/http/endpoint.ts -> src/calls/call.ts
        src/main.ts -> src/app.ts src/store/wallets.ts
        src/operator/accounts.ts -> src/console/keys.ts
        test/money.test.ts -> src/main.ts
        workers/flush.ts -> actors/account.ts
        workers/main.ts -> src/settings/config.ts
      `),
      ...importing("actors/a.ts -> src/store/b.ts", byType),
      ...importing("dashboard/src/a.tsx -> src/console/a-schema.ts", byType),
      ...importing("src/core/a.ts -> src/store/b.ts", (to) => `// from "${to}"`),
      ...script('import { x } from "elysia";'),
    ],
  });

  holds("no files import each other in a circle", importCircles, {
    bad: [{ "src/core/a.ts": byType("./b.ts"), "src/core/b.ts": byType("./a.ts") }],
    good: importing("src/core/a.ts -> src/core/b.ts", byType),
  });

  const reached = {
    "src/main.ts": 'import "./app.ts";',
    "src/app.ts": 'import text from "./core/a.lua" with { type: "text" };',
    "src/core/a.lua": "",
    "bench/main.ts": 'new Worker(new URL("../src/core/thread.ts", import.meta.url));',
    "src/core/thread.ts": "",
  };
  holds("every file is imported", neverImported, {
    bad: [
      { ...reached, "src/core/forgotten.ts": "" },
      { ...reached, "actors/lua/forgotten.lua": "" },
      { "src/core/early.ts": "" },
    ],
    good: [reached],
  });
});

describe("statements", () => {
  const inStore = (...bodies: readonly string[]) =>
    file(
      "src/store/a.ts",
      bodies.map((body) => `async function a(tx: Transaction) {\n  ${body}\n}`),
    );
  holds("a function has drizzle or tagged SQL", each(rules.mixedDialects), {
    bad: [
      ...inStore("await tx.select();\n  await tx.execute(sql`SELECT 1`);"),
      ...inStore("await tx`SELECT 1`;\n  await db\n    .insert(a);"),
    ],
    good: [
      ...inStore("await tx.select().from(a).where(sql`a > 1`).execute();"),
      ...inStore("await tx.execute<Row>(sql`SELECT 1`);\n  await tx`SELECT 2`;"),
      { "src/core/a.ts": "function a() {\n  tx.select();\n  tx.execute(1);\n}" },
    ],
  });
});

describe("lines and names", () => {
  holds("Lua files are short", each(rules.longLua), {
    bad: lua("a\n".repeat(301)),
    good: [...lua("a\n".repeat(300)), ...prose("a\n".repeat(600))],
  });
  holds("lines are short", each(rules.longLine), {
    bad: [
      ...script(`// ${"a".repeat(98)}`),
      ...lua(`-- ${"a".repeat(98)}`),
      ...prose("a".repeat(121)),
    ],
    good: [
      ...script("a".repeat(100)),
      ...prose("a".repeat(120), `| ${"a".repeat(150)} |\n\`\`\`\n${"a".repeat(150)}\n\`\`\``),
    ],
  });
  holds("tables have one head", each(rules.joinedTables), {
    bad: prose("| a |\n| - |\n| 1 |\n| a |\n| - |\n| 2 |\n"),
    good: prose("| a |\n| - |\n| 1 |\n\n| a |\n| - |\n| 2 |\n"),
  });
  holds("files are named after their content", each(rules.badFileName), {
    bad: empty(
      "src/core/index.ts",
      "src/core/utils.ts",
      "test/helpers.ts",
      "actors/lua/settleLate.lua",
    ),
    good: empty(
      "actors/lua/settle_late.lua",
      "src/core/money/money.ts",
      "src/http/on-error.ts",
      "test/on-error.test.ts",
      "docs/ARCHITECTURE.md",
    ),
  });
});

describe("parameters", () => {
  const wide = (head: string) => `// biome-ignore lint/complexity/useMaxParams: often\n${head}`;
  holds("only the listed functions take more than three", each(rules.wideFunctions), {
    bad: script(
      wide("export async function a<T>(b: T) {}"),
      wide("  #a(b) {}"),
      wide("  const ask = <Result>(\n"),
    ),
    good: [
      { "src/http/respond.ts": wide("function responseOf(\n") },
      { "test/support/a.ts": wide("function a() {}") },
    ],
  });
  test("every listed function is there, and the list is short", () => {
    const texts = new Map(tree.map(({ path, text }) => [path, text]));
    const isGone = (listed: string) => {
      const [path = "", name] = listed.split(" ");
      const found = rules.wideNames(texts.get(path) ?? "");
      return !found.includes(name ?? "");
    };
    expect([...rules.WIDE_FUNCTIONS].filter(isGone)).toEqual([]);
    expect(rules.WIDE_FUNCTIONS.size).toBeLessThanOrEqual(20);
  });
});

describe("rooms", () => {
  const page = { "docs/ARCHITECTURE.md": "| `src/core/` | pure |\n" };
  holds("every folder has its purpose in a line, and is not full", rules.rooms, {
    bad: [
      { ...page, "src/core/a.ts": "", "src/elsewhere/a.ts": "" },
      page,
      {
        ...page,
        ...Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`src/core/a${at}.ts`, ""])),
      },
    ],
    good: [{ ...page, "src/core/a.ts": "", "test/a.ts": "" }],
  });
});

describe("comments", () => {
  holds("notes name an issue", each(rules.todoWithoutIssue), {
    bad: [
      ...script("// TODO make it faster", `a(); ${"// TODO later"}`, `{${"/* HACK */"}}`),
      ...lua("-- FIXME: rounding", "a() -- XXX"),
    ],
    good: script("// TODO #12 make it faster", 'const todo = "TODO";', 'get("http://TODO.test");'),
  });
  holds("comments are no code", each(rules.commentedOutCode), {
    bad: [
      ...script("// const a = b();", "a();\n// await settle(hold);", "  // if (a > b) {"),
      ...script("/*\n total = 5;\n*/", "a(); // b();"),
      ...lua("-- redis.call('DEL', key)", "-- local a = 1"),
    ],
    good: [
      ...script(
        "// A sentence; for example settle(hold) returns the rest.",
        "// If a hold expires, its rest returns;\n// for each of them once.",
        'const a = "// const a = b();";',
      ),
      ...lua("-- Reply { ok, available_nano }"),
    ],
  });
});

describe("Lua", () => {
  const head = "-- Settle a hold.\n--\n-- KEYS  1 wallet\n-- ARGV  1 cost_nano\n-- Reply { ok }\n";
  holds("scripts say what they do, take and answer", each(rules.luaWithoutHead), {
    bad: lua("local a = 1\n", head.replace("KEYS", "Keys"), head.replace("Reply", "It replies")),
    good: [
      ...lua(`${head}return 1\n`),
      { "actors/lua/shared/prelude.lua": "-- What every script shares.\n" },
    ],
  });
  holds("money is never joined to text", each(rules.luaMoneyAsText), {
    bad: lua(
      "return 'a' .. cost_nano",
      "return held_nano .. ''",
      "return tostring(cost_nano)",
      "return cjson.encode(cost_nano)",
    ),
    good: lua(
      "return money(cost_nano) .. ' ' .. name",
      "-- never '..' cost_nano\nreturn 'a_nano' .. month",
    ),
  });
});
