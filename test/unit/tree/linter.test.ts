// Checks that the linter's settings reach their files: the path patterns of biome.json, and our own
// rules in lint/, are shown to refuse bad samples and to pass good ones.

import { expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const PROJECT = join(import.meta.dir, "../../..");
const FETCH = 'export const reply = await fetch("http://127.0.0.1");\n';
const POSTGRES = 'import postgres from "postgres";\n\nexport const open = postgres;\n';
const DRIZZLE = 'import { eq } from "drizzle-orm/sql";\n\nexport const same = eq;\n';
const ENVIRONMENT = "export const home = process.env.HOME;\n";
const CONSOLE = "console.log(1);\n";
const lines = (count: number) => "export {};\n".repeat(count);
const LONG_FUNCTION = `export function long() {\n${"  long();\n".repeat(71)}}\n`;

const WIDE = "export const wide = (a: 1, b: 1, c: 1, d: 1) => [a, b, c, d];\n";

const CLOCK = "The composition roots pass clock and randomness in.";
const SQL = "SQL belongs in src/store.";
const STATUS = "Statuses belong in src/core/errors.ts and src/http.";
const SLEEP = "Wait for a condition (test/support/eventually.ts).";
const SPREAD = "Write the parts of the literal themselves.";

/** Path, text, and the rule or message that must refuse it; null if none must. */
const SAMPLES = [
  ["src/http/fetches.ts", FETCH, "noRestrictedGlobals"],
  ["workers/fetches.ts", FETCH, "noRestrictedGlobals"],
  ["src/services/chat/providers/fetches.ts", FETCH, null],
  ["src/upstream/fetches.ts", FETCH, null],
  ["src/main.ts", `${FETCH}const deps = { now: Date.now, random: Math.random };`, null],
  ["actors/database.ts", POSTGRES, "noRestrictedImports"],
  ["src/calls/database.ts", DRIZZLE, "noRestrictedImports"],
  ["src/store/servers/database.ts", POSTGRES, null],
  ["src/http/home.ts", ENVIRONMENT, "noProcessEnv"],
  ["src/settings/config.ts", ENVIRONMENT, null],
  ["scripts/local/home.mjs", ENVIRONMENT, null],
  ["src/calls/prints.ts", CONSOLE, "noConsole"],
  ["src/cli/prints.ts", CONSOLE, null],
  ["src/core/long.ts", lines(451), "noExcessiveLinesPerFile"],
  ["src/core/short.ts", lines(450), null],
  ["test/product/long.test.ts", lines(601), "noExcessiveLinesPerFile"],
  ["test/short.test.ts", lines(600), null],
  ["src/core/long-function.ts", LONG_FUNCTION, "noExcessiveLinesPerFunction"],
  ["test/long-function.test.ts", LONG_FUNCTION, null],
  ["src/core/wide.ts", WIDE, "useMaxParams"],
  ["scripts/local/wide.mjs", WIDE.replaceAll(": 1", ""), "useMaxParams"],
  ["src/core/three.ts", WIDE.replaceAll(/,? d(: 1)?/g, ""), null],
  ["test/support/wide.ts", WIDE, null],
  ["src/core/camelCase.ts", lines(1), "useFilenamingConvention"],
  ["src/core/default.ts", "export default 1;\n", "noDefaultExport"],
  ["drizzle.config.ts", "export default 1;\n", null],
  ["src/core/barrel.ts", 'export * from "./short.ts";\n', "noBarrelFile"],
  ["src/core/one.ts", 'export { two } from "./two.ts";\nexport const one = 1;\n', "noImportCycles"],
  ["src/core/two.ts", 'export { one } from "./one.ts";\nexport const two = 2;\n', "noImportCycles"],

  ["actors/clock.ts", "const t = Date.now();", CLOCK],
  ["src/settings/clock.ts", "const t = new Date();", CLOCK],
  ["workers/clock.ts", "const r = Math.random();", CLOCK],
  ["src/calls/clock.ts", "const t = performance.now();", CLOCK],
  ["src/core/clock.ts", "const id = crypto.randomUUID();", CLOCK],
  ["src/core/seed.ts", "globalThis.crypto.getRandomValues(seed);", CLOCK],
  ["src/core/deps.ts", "const deps = { now: Date.now };", CLOCK],
  ["workers/main.ts", "const r = Math.random();", null],
  ["src/cli/main.ts", "const t = new Date();", null],
  ["actors/time.ts", "const t = deps.now(); // not Date.now()", null],
  ["src/calls/time.ts", "const d = new Date(nowMs);", null],
  ["scripts/time.mjs", "const t = Date.now();", null],

  ["src/calls/sql.ts", 'run("SELECT id FROM accounts");', SQL],
  ["src/calls/sql-lines.ts", "run(`\n  SELECT id\n  FROM accounts\n`);", SQL],
  ["workers/sql.ts", "await sql`select 1`;", SQL],
  ["src/calls/sql-tag.ts", "await database.sql<Row>`select 1`;", SQL],
  ["actors/sql.ts", 'run("INSERT INTO ledger VALUES (1)");', SQL],
  ["src/operator/sql.ts", 'run("DROP TABLE ledger");', SQL],
  ["src/store/sql.ts", "await sql`select 1`;", null],
  ["src/services/maps/providers/sql.ts", 'run("SELECT id FROM places");', null],
  ["src/calls/no-sql.ts", '// "SELECT id FROM accounts"\nrun("SELECT");', null],

  ["src/account/status.ts", "set.status = 402;", STATUS],
  ["src/app.ts", "const r = new Response(null, { status: 404 });", STATUS],
  ["src/calls/status.ts", "if (reply.status >= 500) retry();", STATUS],
  ["workers/status.ts", "const statusCode: number = 500;", STATUS],
  ["src/console/status.ts", "export const refuse = (status: 401 | 403) => status;", STATUS],
  ["actors/status.ts", "export interface Refusal {\n  readonly status: 404 | 405;\n}", STATUS],
  ["src/upstream/status.ts", "if ((await fetch(url)).status >= 500) fail();", null],
  ["src/payments/providers/status.ts", "if (reply.status === 404) fail();", null],
  ["src/http/status.ts", "const r = new Response(null, { status: 404 });", null],
  ["src/core/refusal-errors.ts", "const r = { status: 404 };", null],
  ["src/account/text.ts", 'const text = "status: 404, Date.now";', null],

  ["src/core/spread.ts", "const a = { ...{ b: 1 }, c: 2 };", SPREAD],
  ["test/unit/core/spread.test.ts", "const a = [...[1, 2], 3];", SPREAD],
  ["src/core/spread-of.ts", "const a = [...[1, 2].map(String), ...(b ? [3] : [])];", null],

  ["test/product/api/sleep.test.ts", "await Bun.sleep(20);", SLEEP],
  ["test/unit/core/sleep.test.ts", "setTimeout(() => gone.abort(), 10);", SLEEP],
  ["test/support/sleep.ts", "await Bun.sleep(5);", null],
  ["test/product/chaos/sleep.test.ts", "await Bun.sleep(5);", null],
  ["test/unit/workers/sweep-late.test.ts", "await Bun.sleep(5);", null],
  [
    "test/product/api/wait.test.ts",
    'await eventually("it is sent", () => sent); // no Bun.sleep()',
    null,
  ],
] as const;

/** Rules that these samples do not test. */
const OTHERS: ReadonlySet<string> = new Set([
  "noUselessEmptyExport",
  "noBarrelFile",
  "noUnusedVariables",
]);

test("each rule holds in its files, and only there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "farebox-linter-"));
  try {
    cpSync(join(PROJECT, "biome.json"), join(folder, "biome.json"));
    for (const name of ["node_modules", "lint"]) {
      symlinkSync(join(PROJECT, name), join(folder, name));
    }
    for (const [path, text] of SAMPLES) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const found = await lint(folder);
    const wanted = SAMPLES.flatMap(([path, , rule]) => (rule === null ? [] : [[path, rule]]));
    const refused = found.filter(([path, rule]) => {
      return !OTHERS.has(rule) || wanted.some((one) => one[0] === path && one[1] === rule);
    });
    const unique = [...new Set(refused.map((pair) => pair.join(" ")))];
    expect(unique.sort()).toEqual(wanted.map((pair) => pair.join(" ")).sort());
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/**
 * Lists the files and the rules that refuse them; for a rule of lint/ its message, because it has
 * no name.
 */
async function lint(folder: string): Promise<(readonly [path: string, rule: string])[]> {
  const biome = join(PROJECT, "node_modules/@biomejs/biome/bin/biome");
  const child = Bun.spawn(
    [
      "node",
      biome,
      "lint",
      "--reporter=json",
      "--max-diagnostics=none",
      "--error-on-warnings",
      ".",
    ],
    { cwd: folder, stdout: "pipe", stderr: "pipe" },
  );
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const start = out.indexOf("{");
  if (start < 0) throw new Error(`Biome printed no JSON: ${out}${err}`);
  const { diagnostics } = JSON.parse(out.slice(start)) as {
    diagnostics: {
      category: string;
      message: string;
      location: { path: string | { file: string } };
    }[];
  };
  return diagnostics.map(({ category, message, location: { path } }) => {
    const file = typeof path === "string" ? path : path.file;
    const rule = category === "plugin" ? message : category.slice(category.lastIndexOf("/") + 1);
    return [file, rule] as const;
  });
}
