// The linter's settings reach the files that they are for: what biome.json names by patterns of
// paths is shown to refuse bad samples and to pass good ones.

import { expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const PROJECT = join(import.meta.dir, "..");
setDefaultTimeout(120_000);

const FETCH = 'export const reply = await fetch("http://127.0.0.1");\n';
const POSTGRES = 'import postgres from "postgres";\n\nexport const open = postgres;\n';
const DRIZZLE = 'import { eq } from "drizzle-orm/sql";\n\nexport const same = eq;\n';
const ENVIRONMENT = "export const home = process.env.HOME;\n";
const CONSOLE = "console.log(1);\n";
const lines = (count: number) => "export {};\n".repeat(count);
const LONG_FUNCTION = `export function long() {\n${"  long();\n".repeat(71)}}\n`;

/** Path, text, and the rule that must refuse it; null if none may. */
const SAMPLES = [
  ["src/http/fetches.ts", FETCH, "noRestrictedGlobals"],
  ["workers/fetches.ts", FETCH, "noRestrictedGlobals"],
  ["src/services/chat/providers/fetches.ts", FETCH, null],
  ["src/upstream/fetches.ts", FETCH, null],
  ["src/main.ts", FETCH, null],
  ["actors/database.ts", POSTGRES, "noRestrictedImports"],
  ["src/calls/database.ts", DRIZZLE, "noRestrictedImports"],
  ["src/store/database.ts", POSTGRES, null],
  ["src/http/home.ts", ENVIRONMENT, "noProcessEnv"],
  ["src/settings/config.ts", ENVIRONMENT, null],
  ["scripts/home.mjs", ENVIRONMENT, null],
  ["src/calls/prints.ts", CONSOLE, "noConsole"],
  ["src/cli/prints.ts", CONSOLE, null],
  ["src/core/long.ts", lines(301), "noExcessiveLinesPerFile"],
  ["src/core/short.ts", lines(300), null],
  ["test/long.test.ts", lines(501), "noExcessiveLinesPerFile"],
  ["test/short.test.ts", lines(500), null],
  ["src/core/long-function.ts", LONG_FUNCTION, "noExcessiveLinesPerFunction"],
  ["test/long-function.test.ts", LONG_FUNCTION, null],
  ["src/core/camelCase.ts", lines(1), "useFilenamingConvention"],
  ["src/core/default.ts", "export default 1;\n", "noDefaultExport"],
  ["drizzle.config.ts", "export default 1;\n", null],
  ["src/core/barrel.ts", 'export * from "./short.ts";\n', "noBarrelFile"],
  ["src/core/one.ts", 'export { two } from "./two.ts";\nexport const one = 1;\n', "noImportCycles"],
  ["src/core/two.ts", 'export { one } from "./one.ts";\nexport const two = 2;\n', "noImportCycles"],
] as const;

/** Rules that these samples are not about. */
const OTHERS: ReadonlySet<string> = new Set(["noUselessEmptyExport", "noBarrelFile"]);

test("each rule holds where it should, and only there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "farebox-linter-"));
  try {
    copyFileSync(join(PROJECT, "biome.json"), join(folder, "biome.json"));
    symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
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

/** Which rule refuses which file. */
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
    diagnostics: { category: string; location: { path: string | { file: string } } }[];
  };
  return diagnostics.map(({ category, location: { path } }) => {
    const file = typeof path === "string" ? path : path.file;
    return [file, category.slice(category.lastIndexOf("/") + 1)] as const;
  });
}
