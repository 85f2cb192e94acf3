// The habits of this project that no tool checks by itself. Each rule is shown to refuse bad
// samples and to pass good ones, then it is held against the tree.

import { describe, expect, test } from "bun:test";
import { neverImported, wrongArrows } from "./support/tidy-imports.ts";
import {
  badFileName,
  commentedOutCode,
  longLine,
  longLua,
  luaMoneyAsText,
  luaWithoutHead,
  todoWithoutIssue,
} from "./support/tidy-rules.ts";
import { readTree, type SourceFile, viewOf } from "./support/tidy-source.ts";

type Sample = readonly [path: string, text: string];

const tree = readTree();

function sample([path, text]: Sample): SourceFile {
  return { path, text };
}

/** Each bad sample must bring exactly one complaint, each good one and the tree none. */
function holds(
  name: string,
  rule: (file: SourceFile) => string[],
  samples: { bad: readonly Sample[]; good: readonly Sample[] },
): void {
  holdsTogether(name, (files) => files.flatMap(rule), {
    bad: samples.bad.map((bad) => [bad]),
    good: samples.good.map((good) => [good]),
  });
}

function holdsTogether(
  name: string,
  rule: (files: readonly SourceFile[]) => string[],
  samples: { bad: readonly (readonly Sample[])[]; good: readonly (readonly Sample[])[] },
): void {
  test(`${name}: bad samples are refused`, () => {
    expect(samples.bad.filter((bad) => rule(bad.map(sample)).length !== 1)).toEqual([]);
  });
  test(`${name}: good samples pass`, () => {
    expect(samples.good.flatMap((good) => rule(good.map(sample)))).toEqual([]);
  });
  test(`${name}: the tree passes`, () => {
    expect(rule(tree)).toEqual([]);
  });
}

function importing(path: string, target: string): Sample[] {
  const up = "../".repeat(path.split("/").length - 1) || "./";
  return [
    [path, `import { a } from "${up}${target}";\n`],
    [target, "export const a = 1;\n"],
  ];
}

test("viewOf() tells code, strings, templates, expressions and comments apart", () => {
  const text = `a("b // c", \`d \${e({ f: "g" })} h\`, /i"\\/[/]/.test(j)); // k "l"
/* m */ n / o;`;
  const { code, uncommented, comments } = viewOf({ path: "a.ts", text });
  expect(code.replaceAll(/\s+/g, "")).toBe("a(,e({f:}),.test(j));n/o;");
  expect(comments.replaceAll(/\s+/g, " ").trim()).toBe('// k "l" /* m */');
  expect(uncommented).toContain('"b // c"');
  expect(code).toHaveLength(text.length);
});

test("the tree is read", () => {
  const paths = tree.map(({ path }) => path);
  expect(paths).toContain("src/core/money.ts");
  expect(paths).toContain("scripts/start.mjs");
});

describe("imports", () => {
  holdsTogether("imports only go down", wrongArrows, {
    bad: [
      importing("src/core/money.ts", "src/http/body.ts"),
      importing("src/store/wallets.ts", "actors/account.ts"),
      importing("src/upstream/chat.ts", "src/store/wallets.ts"),
      importing("src/calls/chat.ts", "src/http/body.ts"),
      importing("src/account/me.ts", "src/application/chat.ts"),
      importing("src/account/me.ts", "src/app.ts"),
      importing("src/console/keys.ts", "src/operator/accounts.ts"),
      importing("src/account/me.ts", "src/settings/config.ts"),
      importing("src/services/chat/chat.ts", "src/services/mail/mail.ts"),
      importing("src/services/chat/chat.ts", "src/accounts/audit.ts"),
      importing("src/accounts/audit.ts", "src/account/me.ts"),
      importing("src/store/a.ts", "src/upstream/fallback.ts"),
      importing("workers/flush.ts", "src/app.ts"),
      importing("workers/flush.ts", "workers/main.ts"),
      importing("src/cli/main.ts", "src/app.ts"),
      importing("src/app.ts", "src/main.ts"),
      importing("dashboard/src/a.tsx", "src/console/a-schema.ts"),
      importing("src/http/a.ts", "dashboard/src/a.ts"),
      importing("actors/account.ts", "test/support/services.ts"),
      [["src/elsewhere.ts", ""]],
      [
        ["src/core/a.ts", 'const a = await import("../store/b.ts");'],
        ["src/store/b.ts", ""],
      ],
      [
        ["src/core/a.ts", 'import type { B } from "../store/b.ts";'],
        ["src/store/b.ts", ""],
      ],
    ],
    good: [
      [
        ["actors/a.ts", 'import type { B } from "../src/store/b.ts";'],
        ["src/store/b.ts", ""],
      ],
      importing("src/main.ts", "src/app.ts"),
      importing("src/main.ts", "src/store/wallets.ts"),
      importing("src/app.ts", "src/account/me.ts"),
      importing("src/app.ts", "src/operator/accounts.ts"),
      importing("src/operator/accounts.ts", "src/console/keys.ts"),
      importing("src/account/me.ts", "src/calls/chat.ts"),
      importing("src/http/endpoint.ts", "src/calls/call.ts"),
      importing("src/calls/chat.ts", "actors/account.ts"),
      importing("workers/main.ts", "src/settings/config.ts"),
      importing("workers/flush.ts", "actors/account.ts"),
      importing("src/cli/main.ts", "src/accounts/audit.ts"),
      importing("test/money.test.ts", "src/main.ts"),
      [
        ["dashboard/src/a.tsx", 'import type { A } from "../../src/console/a-schema.ts";'],
        ["src/console/a-schema.ts", ""],
      ],
      [["src/core/a.ts", '// from "../store/b.ts"\nimport { x } from "elysia";']],
    ],
  });

  const roots: Sample[] = [
    ["src/main.ts", 'import "./app.ts";'],
    ["workers/main.ts", ""],
    ["src/app.ts", 'import text from "./core/a.lua" with { type: "text" };'],
    ["src/core/a.lua", ""],
  ];
  holdsTogether("every file is imported", neverImported, {
    bad: [
      [...roots, ["src/core/forgotten.ts", ""]],
      [...roots, ["actors/lua/forgotten.lua", ""]],
    ],
    good: [
      roots,
      [["src/core/early.ts", ""]],
      [...roots, ["bench/main.ts", ""]],
      [
        ...roots,
        ["bench/main.ts", 'new Worker(new URL("../src/core/thread.ts", import.meta.url));'],
        ["src/core/thread.ts", ""],
      ],
    ],
  });
});

describe("lines and names", () => {
  holds("Lua files are short", longLua, {
    bad: [["actors/lua/a.lua", "a\n".repeat(301)]],
    good: [
      ["actors/lua/a.lua", "a\n".repeat(300)],
      ["docs/a.md", "a\n".repeat(600)],
    ],
  });
  holds("lines are short", longLine, {
    bad: [
      ["src/core/a.ts", `// ${"a".repeat(98)}`],
      ["actors/lua/a.lua", `-- ${"a".repeat(98)}`],
      ["README.md", "a".repeat(121)],
    ],
    good: [
      ["src/core/a.ts", "a".repeat(100)],
      ["README.md", "a".repeat(120)],
      ["README.md", `| ${"a".repeat(150)} |\n\`\`\`\n${"a".repeat(150)}\n\`\`\``],
    ],
  });
  holds("files are named after their content", badFileName, {
    bad: [
      ["src/core/index.ts", ""],
      ["src/core/utils.ts", ""],
      ["test/helpers.ts", ""],
      ["actors/lua/settleLate.lua", ""],
    ],
    good: [
      ["actors/lua/settle_late.lua", ""],
      ["src/core/money.ts", ""],
      ["src/http/on-error.ts", ""],
      ["test/on-error.test.ts", ""],
      ["docs/ARCHITECTURE.md", ""],
    ],
  });
});

describe("comments", () => {
  holds("notes name an issue", todoWithoutIssue, {
    bad: [
      ["src/core/a.ts", "// TODO make it faster"],
      ["actors/lua/a.lua", "-- FIXME: rounding"],
    ],
    good: [
      ["src/core/a.ts", "// TODO #12 make it faster"],
      ["src/core/a.ts", 'const todo = "TODO";'],
    ],
  });
  holds("comments are no code", commentedOutCode, {
    bad: [
      ["src/core/a.ts", "// const a = b();"],
      ["src/core/a.ts", "a();\n// await settle(hold);"],
      ["src/core/a.ts", "  // if (a > b) {"],
      ["src/core/a.ts", "/*\n total = 5;\n*/"],
      ["actors/lua/a.lua", "-- redis.call('DEL', key)"],
      ["actors/lua/a.lua", "-- local a = 1"],
    ],
    good: [
      ["src/core/a.ts", "// A sentence; for example settle(hold) returns the rest."],
      ["src/core/a.ts", "// If a hold expires, its rest returns;\n// for each of them once."],
      ["src/core/a.ts", 'const a = "// const a = b();";'],
      ["actors/lua/a.lua", "-- Reply { ok, available_nano }"],
    ],
  });
});

describe("Lua", () => {
  const head = "-- Settle a hold.\n--\n-- KEYS  1 wallet\n-- ARGV  1 cost_nano\n-- Reply { ok }\n";
  holds("scripts say what they do, take and answer", luaWithoutHead, {
    bad: [
      ["actors/lua/a.lua", "local a = 1\n"],
      ["actors/lua/a.lua", head.replace("KEYS", "Keys")],
      ["actors/lua/a.lua", head.replace("Reply", "It replies")],
    ],
    good: [
      ["actors/lua/a.lua", `${head}return 1\n`],
      ["actors/lua/prelude.lua", "-- What every script shares.\n"],
    ],
  });
  holds("money is never joined to text", luaMoneyAsText, {
    bad: [
      ["actors/lua/a.lua", "return 'a' .. cost_nano"],
      ["actors/lua/a.lua", "return held_nano .. ''"],
      ["actors/lua/a.lua", "return tostring(cost_nano)"],
      ["actors/lua/a.lua", "return cjson.encode(cost_nano)"],
    ],
    good: [
      ["actors/lua/a.lua", "return money(cost_nano) .. ' ' .. name"],
      ["actors/lua/a.lua", "-- never '..' cost_nano\nreturn 'a_nano' .. month"],
    ],
  });
});
